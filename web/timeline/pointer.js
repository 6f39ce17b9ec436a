// Mouse, touchpad and touch over the rows: drag pans, shift and drag measures, alt and drag moves one report against the others.

/** @typedef {import("../main.js").App} App */
/** @typedef {import("./timeline.js").Timeline} Timeline */
/**
 * @typedef {{ kind: "pan" | "span" | "align", x: number, y: number, from: number, to: number, top: number, report: number, offset: number,
 *   moved: boolean }} Drag
 */

const CLICK_PIXELS = 3;
/** What a wheel's line and page are in pixels. */
const WHEEL_UNITS = [1, 16, 400];

class Pointer {
  /** @param {App} app @param {Timeline} timeline */
  constructor(app, timeline) {
    this.app = app;
    this.timeline = timeline;
    /** @type {Drag | null} */
    this.drag = null;
    /** @type {Map<number, number>} fingers on the screen: where they are */
    this.fingers = new Map();
    this.hairline = /** @type {HTMLElement} */ (document.getElementById("hairline"));
    const { canvas, ruler } = timeline;
    canvas.addEventListener("pointermove", (event) => this.hover(event));
    canvas.addEventListener("pointerleave", () => {
      timeline.tooltip.hide();
      this.hairline.hidden = true;
    });
    for (const [element, kind] of /** @type {Array<[HTMLElement, "span" | undefined]>} */ ([[canvas, undefined], [ruler, "span"]])) {
      element.addEventListener("pointerdown", (event) => this.press(event, kind));
      element.addEventListener("pointermove", (event) => this.moved(event));
      element.addEventListener("pointerup", (event) => this.release(event));
      element.addEventListener("pointercancel", (event) => this.cancel(event));
    }
    canvas.addEventListener("dblclick", (event) => this.enter(event));
    ruler.addEventListener("dblclick", () => app.zoomToSpan());
    const section = /** @type {HTMLElement} */ (document.getElementById("timeline"));
    section.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  /** @param {PointerEvent} event */
  hover(event) {
    this.timeline.pointerX = event.clientX;
    this.hairline.hidden = false;
    this.hairline.style.left = `${event.clientX - this.timeline.pane.getBoundingClientRect().left}px`;
    if (this.drag || event.pointerType === "touch")
      return;
    const box = this.timeline.canvas.getBoundingClientRect();
    const marker = this.timeline.arrows.at(event.clientX - box.left, event.clientY - box.top);
    this.timeline.canvas.style.cursor = marker ? "pointer" : event.shiftKey ? "col-resize" : "";
    if (marker)
      this.timeline.tooltip.hide();
    else
      this.timeline.tooltip.show(event);
  }

  /** @param {PointerEvent} event @param {"span"} [kind] */
  press(event, kind) {
    if (event.button !== 0)
      return;
    const { app, timeline } = this;
    const target = /** @type {HTMLElement} */ (event.currentTarget);
    event.preventDefault();
    timeline.scroll.focus({ preventScroll: true });
    target.setPointerCapture(event.pointerId);
    this.fingers.set(event.pointerId, event.clientX);
    const { from, to } = app.view;
    const row = timeline.rowAt(event.clientY - timeline.canvas.getBoundingClientRect().top);
    const report = app.loaded[row?.report ?? 0];
    this.drag = {
      kind: kind || (event.shiftKey ? "span" : event.altKey && app.loaded.length > 1 ? "align" : "pan"),
      x: event.clientX, y: event.clientY, from, to,
      top: timeline.scroll.scrollTop, report: report.number, offset: report.offset, moved: false,
    };
    timeline.tooltip.hide();
  }

  /** @param {PointerEvent} event */
  moved(event) {
    const { drag, app, timeline } = this;
    if (this.fingers.size === 2 && this.fingers.has(event.pointerId))
      return this.pinch(event);
    if (!drag)
      return;
    drag.moved ||= Math.abs(event.clientX - drag.x) > CLICK_PIXELS || Math.abs(event.clientY - drag.y) > CLICK_PIXELS;
    if (!drag.moved)
      return;
    const by = (drag.x - event.clientX) * timeline.perPixel;
    if (drag.kind === "pan") {
      timeline.scroll.scrollTop = drag.top + drag.y - event.clientY;
      app.view.show(drag.from + by, drag.to + by);
    } else if (drag.kind === "align") {
      app.alignment.byHand(drag.report, drag.offset - by);
    } else {
      app.view.select([timeline.timeAt(drag.x), timeline.timeAt(event.clientX)]);
    }
  }

  /** Two fingers: what was between them stays between them. @param {PointerEvent} event */
  pinch(event) {
    const { view } = this.app;
    const before = [...this.fingers.values()];
    const times = before.map((x) => this.timeline.timeAt(x));
    this.fingers.set(event.pointerId, event.clientX);
    const after = [...this.fingers.values()];
    const wide = Math.abs(after[1] - after[0]);
    if (wide < 20)
      return;
    const perPixel = Math.abs(times[1] - times[0]) / wide;
    const left = this.timeline.canvas.getBoundingClientRect().left;
    const from = Math.min(...times) - (Math.min(...after) - left) * perPixel;
    view.show(from, from + perPixel * this.timeline.width);
    this.drag = null;
  }

  /** @param {PointerEvent} event */
  release(event) {
    const { drag, app, timeline } = this;
    this.fingers.delete(event.pointerId);
    this.drag = null;
    if (!drag)
      return;
    if (drag.moved) {
      if (drag.kind === "span")
        app.spanChosen();
      else if (drag.kind === "align")
        app.alignment.tell();
      return;
    }
    if (event.currentTarget === timeline.canvas)
      this.click(event);
  }

  /** @param {PointerEvent} event */
  cancel(event) {
    this.fingers.delete(event.pointerId);
    this.drag = null;
  }

  /** @param {PointerEvent} event */
  click(event) {
    const { app, timeline } = this;
    const box = timeline.canvas.getBoundingClientRect();
    const target = timeline.arrows.at(event.clientX - box.left, event.clientY - box.top);
    if (target) {
      app.go(target);
      return;
    }
    const hit = timeline.hit(event);
    const slice = hit && hit.row.draw !== "plot" ? timeline.sliceAt(hit) : null;
    if (hit && hit.row !== app.row)
      app.rowChosen(hit.row);
    if (!hit || !slice || hit.row.draw === "group")
      app.pick(null);
    else
      app.pick({ report: hit.row.report, row: hit.row.id, lane: hit.laneNumber, index: slice.index });
  }

  /** @param {MouseEvent} event */
  enter(event) {
    const hit = this.timeline.hit(event);
    const slice = hit && this.timeline.sliceAt(hit);
    if (!hit || !slice)
      return;
    const { offset } = this.app.loaded[hit.row.report];
    this.app.fit(slice.start + offset, slice.end + offset);
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const unit = WHEEL_UNITS[event.deltaMode] || 1;
    const [dx, dy] = [event.deltaX * unit, event.deltaY * unit];
    const { view } = this.app;
    this.timeline.tooltip.hide();
    if (event.ctrlKey || event.metaKey || event.target === this.timeline.ruler) {
      event.preventDefault();
      view.zoom(Math.exp(Math.max(-80, Math.min(80, dy)) * 0.006), this.timeline.timeAt(event.clientX));
    } else if (Math.abs(dx) > Math.abs(dy) || event.shiftKey) {
      event.preventDefault();
      view.pan((dx || dy) * this.timeline.perPixel);
    }
  }
}

/** @param {App} app @param {Timeline} timeline */
export function listenToPointer(app, timeline) {
  return new Pointer(app, timeline);
}
