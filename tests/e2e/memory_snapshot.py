"""Snapshots as torch.cuda.memory._snapshot() makes them, from a small model of the caching allocator that keeps its own books.

The model has fixed segments and gives out addresses from the front of the first that has room; what the tests expect is taken from
its books, not from the snapshot."""
import random

ROUND, SEGMENT = 512, 20 << 20
TORCH = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py"
PLACES = [("/srv/a/train.py", line, name) for line, name in ((10, "forward"), (22, "backward"), (31, "step"), (40, "load"))]


def frames(place, old=False):
    """Innermost first: PyTorch, the program's function, its main."""
    list_of = [("??", 0, "c10::Allocator") if old else (TORCH, 114, "forward"), place, ("/srv/a/train.py", 99, "main")]
    return [{"filename": path, "line": line, "name": name} for path, line, name in list_of]


class Device:
    def __init__(self, number, seed):
        self.number, self.random = number, random.Random(seed)
        self.segments = {}          # address -> {offset: block}
        self.events, self.books = [], []  # events; after each: allocated, active, reserved, who holds it
        self.live, self.pending = {}, {}
        self.reserved, self.next_address, self.time = 0, 0x7f0000000000 + (number << 40), 1_700_000_000_000_000
        self.stacks = [frames(place) for place in PLACES]

    def note(self, action, address, size, place=None, **more):
        self.time += self.random.choice((0, 0, 1, 1, 7, 300))
        entry = {"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.time, **more}
        if action == "oom":
            entry["device_free"] = entry.pop("addr")
        if place is not None:
            entry["frames"] = self.stacks[place]
        self.events.append(entry)
        self.books.append((sum(size for size, _ in self.live.values()),
                           sum(size for size, _ in list(self.live.values()) + list(self.pending.values())), self.reserved,
                           dict(self.live)))

    def add_segment(self, place):
        address, self.next_address = self.next_address, self.next_address + 2 * SEGMENT
        self.segments[address] = [[0, SEGMENT, None]]
        self.reserved += SEGMENT
        self.note("segment_alloc", address, SEGMENT, place)
        return address

    def allocate(self, size, place):
        room = -(-size // ROUND) * ROUND
        while True:
            for address, blocks in self.segments.items():
                for i, (offset, bytes_, owner) in enumerate(blocks):
                    if owner is None and bytes_ >= room:
                        blocks[i] = [offset, room, size]
                        if bytes_ > room:
                            blocks.insert(i + 1, [offset + room, bytes_ - room, None])
                        self.live[address + offset] = (size, place)
                        self.note("alloc", address + offset, size, place)
                        return address + offset
            self.add_segment(place)

    def release(self, address, completes=True):
        size, place = self.live.pop(address)
        self.pending[address] = (size, place)
        self.note("free_requested", address, size)
        if completes:
            self.complete(address)

    def complete(self, address):
        size, _ = self.pending.pop(address)
        for base, blocks in self.segments.items():
            for i, block in enumerate(blocks):
                if base + block[0] == address:
                    block[2] = None
                    if i + 1 < len(blocks) and blocks[i + 1][2] is None:
                        block[1] += blocks.pop(i + 1)[1]
                    if i and blocks[i - 1][2] is None:
                        blocks[i - 1][1] += blocks.pop(i)[1]
                    self.note("free_completed", address, size)
                    return

    def release_segments(self):
        for address in [address for address, blocks in self.segments.items() if len(blocks) == 1 and blocks[0][2] is None]:
            del self.segments[address]
            self.reserved -= SEGMENT
            self.note("segment_free", address, SEGMENT)

    def release_all(self):
        for address in list(self.live):
            self.release(address, False)
        for address in list(self.pending):
            self.complete(address)
        self.release_segments()

    def run(self, steps):
        for step in range(steps):
            if step == steps // 2:
                self.release_all()
            choice = self.random.random()
            if choice < 0.52 or not self.live:
                self.allocate(self.random.randrange(1, 3 << 20), self.random.randrange(len(PLACES)))
            elif choice < 0.9:
                self.release(self.random.choice(list(self.live)), self.random.random() < 0.9)
            elif choice < 0.98 and self.pending:
                self.complete(self.random.choice(list(self.pending)))
            else:
                self.release_segments()
        return self

    def block_dict(self, address, bytes_, size, layout):
        state = "inactive" if size is None else "active_allocated" if address in self.live else "active_pending_free"
        block = {"size": bytes_, "state": state}
        place = self.live.get(address, self.pending.get(address, (0, 0)))[1]
        if layout == "history":
            if size is not None:
                block["history"] = [{"addr": address, "real_size": size, "frames": self.stacks[place]}]
            return block
        return {"address": address, "requested_size": size or 0, "frames": self.stacks[place] if size is not None else [], **block}

    def segment_dicts(self, layout):
        dicts = []
        for address, blocks in self.segments.items():
            active = sum(bytes_ for _, bytes_, size in blocks if size is not None)
            entry = {"device": self.number, "address": address, "total_size": SEGMENT, "stream": 0, "segment_type": "large",
                     "allocated_size": sum(bytes_ for offset, bytes_, _ in blocks if address + offset in self.live), "active_size": active,
                     "blocks": [self.block_dict(address + offset, bytes_, size, layout) for offset, bytes_, size in blocks]}
            if layout == "frames":
                entry |= {"requested_size": 0, "segment_pool_id": (0, 0), "is_expandable": False, "frames": []}
            dicts.append(entry)
        return dicts


def snapshot(devices, entries=None, layout="frames"):
    """`entries`: the ring keeps only so many of the last events."""
    segments = [entry for device in devices for entry in device.segment_dicts(layout)]
    if layout == "list":
        return segments
    traces = [[] for _ in range(max(device.number for device in devices) + 1)]
    for device in devices:
        traces[device.number] = device.events[-entries:] if entries else list(device.events)
    if layout == "history":
        traces = [[{key: value for key, value in event.items() if key != "time_us"} for event in trace] for trace in traces]
        return {"segments": segments, "device_traces": traces}
    return {"segments": segments, "device_traces": traces, "external_annotations": [],
            "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False", "max_split_size": -1,
                                   "garbage_collection_threshold": 0.0, "expandable_segments": False}}


def books(device, entries=None):
    """What the model's books say of the last events: the moments before each, and after the last."""
    first = len(device.books) - entries if entries and entries < len(device.books) else 0
    before = device.books[first - 1] if first else (0, 0, 0, {})
    return [before, *device.books[first:]]
