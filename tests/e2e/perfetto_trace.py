"""Reads Perfetto traces by the wire format alone, and replays them as Perfetto does: packets in order of time, slices
nested by track, ids resolved against what the sequence has interned so far. Whatever is against the rules raises."""
import collections
import struct

Slice = collections.namedtuple("Slice", "name category start end track args flows ends_flows depth")
Counter = collections.namedtuple("Counter", "track time value")
Sample = collections.namedtuple("Sample", "time pid tid cpu mode frames")


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number of more than ten bytes")


def fields(data):
    """(field, value) pairs: whole numbers, or bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at:at + 8], at + 8
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
            if len(value) != size:
                raise ValueError("a message goes beyond its end")
        else:
            raise ValueError(f"wire type {kind}")
        yield tag >> 3, value
    if at != len(data):
        raise ValueError("a field goes beyond its end")


def message(data):
    result = collections.defaultdict(list)
    for field, value in fields(data):
        result[field].append(value)
    return result


def one(found, field, otherwise=None):
    values = found.get(field, [])
    if len(values) > 1:
        raise ValueError(f"field {field} is there {len(values)} times")
    return values[0] if values else otherwise


def signed(value):
    return value - (1 << 64) if value >= 1 << 63 else value


class Trace:
    CATEGORIES, NAMES, ANNOTATIONS, FUNCTIONS, FRAMES, STACKS, PATHS, MAPPINGS, VALUES = 1, 2, 3, 5, 6, 7, 17, 19, 29

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        self.tracks = {}      # uuid: (parent, name)
        self.processes = {}   # uuid: (pid, name)
        self.threads = {}     # uuid: (pid, tid, name)
        self.units = {}       # uuid: unit of a counter
        self.clocks, self.primary, self.default_clock = {}, None, None
        self.slices, self.instants, self.counters, self.samples = [], [], [], []
        self.interned = collections.defaultdict(dict)
        events = []
        for number, (field, packet) in enumerate(fields(data)):
            if field != 1:
                raise ValueError("something else than a packet")
            events += self.packet(number, message(packet))
        events.sort(key=lambda event: event[:2])
        self.replay(events)

    def packet(self, number, packet):
        sequence, flags = one(packet, 10), one(packet, 13, 0)
        if not sequence:
            raise ValueError("a packet of no sequence")
        if number == 0:
            if flags & 1 == 0:
                raise ValueError("the first packet does not clear the state")
            self.default_clock = one(message(one(packet, 59)), 58)
        elif flags & 1:
            raise ValueError("the state is cleared twice")
        if 6 in packet:
            self.snapshot(message(one(packet, 6)))
        if 12 in packet:
            self.intern(message(one(packet, 12)))
        if 60 in packet:
            self.descriptor(message(one(packet, 60)))
        if (11 in packet or 66 in packet) and flags & 2 == 0:
            raise ValueError("a packet with interned ids does not say so")
        if 11 in packet:
            return [(one(packet, 8), number, self.event(message(one(packet, 11))))]
        if 66 in packet:
            self.sample(one(packet, 8), message(one(packet, 66)))
        return []

    def snapshot(self, found):
        for clock in found[1]:
            clock = message(clock)
            self.clocks[one(clock, 1)] = one(clock, 2)
        self.primary = one(found, 2)

    def intern(self, found):
        # All of a packet is known before any of it is used: texts first, then what refers to them.
        order = {self.MAPPINGS: 1, self.FRAMES: 2, self.STACKS: 3}
        for kind, entries in sorted(found.items(), key=lambda item: order.get(item[0], 0)):
            for entry in entries:
                entry = message(entry)
                number = one(entry, 1)
                if not number or number in self.interned[kind]:
                    raise ValueError(f"interned id {number} of kind {kind} is given twice")
                self.interned[kind][number] = self.entry(kind, entry)

    def entry(self, kind, entry):
        if kind == self.FRAMES:
            return (self.interned[self.FUNCTIONS][one(entry, 2)], self.interned[self.MAPPINGS][one(entry, 3)],
                    one(entry, 4))
        if kind == self.STACKS:
            if not entry[2]:
                raise ValueError("a stack without frames")
            return [self.interned[self.FRAMES][frame] for frame in entry[2]]
        if kind == self.MAPPINGS:
            return "/" + "/".join(self.interned[self.PATHS][path] for path in entry[7])
        return one(entry, 2, b"").decode("utf-8", "surrogateescape")

    def descriptor(self, found):
        uuid = one(found, 1)
        if not uuid or uuid in self.tracks:
            raise ValueError(f"track {uuid} is described twice")
        parent = one(found, 5)
        if parent and parent not in self.tracks:
            raise ValueError(f"track {uuid} is below {parent}, which is not described")
        name = one(found, 2, b"").decode("utf-8", "surrogateescape")
        if 3 in found:
            process = message(one(found, 3))
            self.processes[uuid] = (one(process, 1), one(process, 6, b"").decode())
            name = self.processes[uuid][1]
        if 4 in found:
            thread = message(one(found, 4))
            self.threads[uuid] = (one(thread, 1), one(thread, 2), one(thread, 5, b"").decode())
            name = self.threads[uuid][2]
        if 8 in found:
            self.units[uuid] = one(message(one(found, 8)), 6, b"").decode()
        self.tracks[uuid] = (parent, name)

    def event(self, found):
        for field in (47, 48):
            found[field] = [struct.unpack("<Q", value)[0] for value in found.get(field, [])]
        if 10 in found:
            found["name"] = self.interned[self.NAMES][one(found, 10)]
        found["category"] = self.interned[self.CATEGORIES][one(found, 3)] if 3 in found else None
        found["args"] = dict(self.annotation(message(entry)) for entry in found.get(4, []))
        return found

    def annotation(self, found):
        name = self.interned[self.ANNOTATIONS][one(found, 1)]
        for field, convert in ((2, bool), (3, int), (4, signed), (5, lambda v: struct.unpack("<d", v)[0]),
                               (6, lambda v: v.decode("utf-8", "surrogateescape")),
                               (9, lambda v: v.decode("utf-8", "surrogateescape")),
                               (17, lambda v: self.interned[self.VALUES][v])):
            if field in found:
                return name, convert(one(found, field))
        raise ValueError(f"annotation {name} has no value")

    def path(self, uuid):
        names = []
        while uuid:
            uuid, name = self.tracks[uuid]
            names.insert(0, name)
        return "/".join(names)

    def sample(self, time, found):
        stack = one(found, 4)
        self.samples.append(Sample(time, one(found, 2), one(found, 3), one(found, 1), one(found, 5),
                                   [frame[0] for frame in self.interned[self.STACKS][stack]] if stack else []))

    def replay(self, events):
        stacks = collections.defaultdict(list)
        for time, _, event in events:
            track, kind = one(event, 11), one(event, 9)
            if track not in self.tracks:
                raise ValueError(f"an event is on track {track}, which is not described")
            if kind == 1:
                stacks[track].append((time, event))
            elif kind == 2:
                if not stacks[track]:
                    raise ValueError(f"an end without a begin on {self.path(track)}")
                start, begin = stacks[track].pop()
                self.slices.append(Slice(begin["name"], begin["category"], start, time, track, begin["args"],
                                         begin[47], begin[48], len(stacks[track])))
            elif kind == 3:
                self.instants.append(Slice(event["name"], event["category"], time, time, track, event["args"],
                                           event[47], event[48], len(stacks[track])))
            elif kind == 4:
                value = signed(one(event, 30)) if 30 in event else struct.unpack("<d", one(event, 44))[0]
                self.counters.append(Counter(track, time, value))
            else:
                raise ValueError(f"an event of type {kind}")
        for track, open_slices in stacks.items():
            if open_slices:
                raise ValueError(f"slices on {self.path(track)} do not end")
