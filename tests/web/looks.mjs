// Sizes, dark and light, and the keyboard alone.
import { check, scenario } from "./support.mjs";

/** What is wider than the window, texts below 12 pixels, and texts that are cut and have no title. */
function layout() {
  const wrong = [];
  if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
    wrong.push(`the page is ${document.documentElement.scrollWidth} x ${document.documentElement.scrollHeight}`);
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join("");
    const style = getComputedStyle(element);
    if (!own || !element.getClientRects().length || style.visibility === "hidden")
      continue;
    if (parseFloat(style.fontSize) < 12)
      wrong.push(`${element.tagName} ${own.slice(0, 20)}: ${style.fontSize}`);
    if (style.overflow === "hidden" && element.scrollWidth > element.clientWidth + 1 && !element.closest("[title]"))
      wrong.push(`cut without a title: ${own.slice(0, 40)}`);
  }
  return wrong.slice(0, 10);
}

/** Contrast of texts on their ground, by WCAG 2: the ones below 4.5. */
function contrast() {
  const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const rgba = (colour) => {
    context.clearRect(0, 0, 1, 1);
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => [r, g, b].map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const groundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const ground = rgba(getComputedStyle(at).backgroundColor);
      if (ground[3] > 250)
        return ground;
    }
    return [255, 255, 255, 255];
  };
  const poor = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE).map((node) => node.textContent.trim()).join("");
    if (!own || !element.getClientRects().length || element.closest("[aria-hidden=true], option"))
      continue;
    const style = getComputedStyle(element);
    if (style.opacity === "0")
      continue;
    const [a, b] = [luminance(rgba(style.color)), luminance(groundOf(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5)
      poor.push(`${own.slice(0, 24)}: ${((a + 0.05) / (b + 0.05)).toFixed(2)}`);
  }
  return [...new Set(poor)].slice(0, 10);
}

/** How light the middle of the page is, 0 to 255. @param {any} viewer */
function ground(viewer) {
  return viewer.tell(() => {
    const context = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
    context.fillStyle = getComputedStyle(document.body).backgroundColor;
    context.fillRect(0, 0, 1, 1);
    return Math.max(...context.getImageData(0, 0, 1, 1).data.slice(0, 3));
  });
}

/** @param {{ browser: any, server: any }} with_ */
async function sizesAndColours({ browser, server }) {
  for (const [width, height, scheme, scale] of [[1280, 720, "light", 1], [1280, 720, "dark", 1], [2560, 1440, "dark", 1],
    [3840, 2160, "light", 1], [1920, 1080, "light", 2]]) {
    const name = `${width}x${height}${scale > 1 ? ` at ${scale}` : ""} ${scheme}`;
    const viewer = await browser.open(server, { width, height, scheme, scale });
    check(`layout: ${name}`, await viewer.tell(layout), []);
    const sizes = await viewer.tell(() => {
      const box = (id) => document.getElementById(id).getBoundingClientRect();
      const canvas = window.sonde.timeline.canvas;
      return [box("timeline").width > innerWidth * 0.5, box("canvas").height > innerHeight * 0.25,
        Math.abs(canvas.width - box("canvas").width * devicePixelRatio) <= 1, box("side").right <= innerWidth + 1,
        box("bottom").bottom <= innerHeight + 1];
    });
    check(`everything has its place: ${name}`, sizes, [true, true, true, true, true]);
    check(`the ground is ${scheme}: ${name}`, (await ground(viewer)) > 127, scheme === "light");
    if (width === 1280)
      check(`texts can be read: ${name}`, await viewer.tell(contrast), []);
    await viewer.picture(`size-${name.replaceAll(" ", "-")}`);
    if (width === 1280 && scheme === "light") {
      await viewer.page.click("#theme");
      await viewer.idle();
      check("the switch makes it dark", (await ground(viewer)) < 127, true);
      for (const mode of await viewer.tell(() => [...document.querySelectorAll("#colour option")].map((option) => option.value))) {
        await viewer.page.selectOption("#colour", mode);
        await viewer.idle();
        await viewer.picture(`colour-${mode}`);
      }
    }
    await viewer.close();
  }
}

/** Everything without a mouse. @param {{ browser: any, server: any }} with_ */
async function keyboardAlone({ browser, server }) {
  const viewer = await browser.open(server);
  const reached = new Set();
  const unseen = [];
  for (let i = 0; i < 60; i++) {
    await viewer.keyboard.press("Tab");
    const now = await viewer.tell(() => {
      const element = document.activeElement;
      const style = getComputedStyle(element);
      const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 || style.boxShadow !== "none" ||
        style.borderColor !== "";
      return { id: element.id || element.closest("[id]")?.id || "", ring, text: element.textContent.slice(0, 20),
        named: Boolean(element.getAttribute("aria-label") || element.title || element.textContent.trim() || element.placeholder) };
    });
    reached.add(now.id);
    if (!now.ring || !now.named)
      unseen.push(now);
    if (now.id === "")
      break;
  }
  const wanted = ["search", "filter", "colour", "theme", "help", "scroll", "tabs", "panel"];
  check("tab reaches everything", wanted.filter((id) => !reached.has(id)), []);
  check("where one is can be seen and has a name", unseen, []);
  await viewer.tell(() => document.getElementById("scroll").focus());
  await viewer.keyboard.press("?");
  await viewer.until(() => document.getElementById("keys").open);
  const keys = await viewer.text("#keys");
  check("? tells the keys", ["zoom", "search", "measure"].filter((word) => !keys.includes(word)), []);
  await viewer.picture("keys");
  await viewer.keyboard.press("Escape");
  check("escape closes them", await viewer.tell(() => document.getElementById("keys").open), false);
  await viewer.keyboard.press("/");
  await viewer.keyboard.type("reduce");
  await viewer.keyboard.press("Enter");
  await viewer.detailsOf(320000);
  await viewer.keyboard.press("Escape");
  await viewer.keyboard.press("n");
  await viewer.detailsOf(320000);
  await viewer.keyboard.press("Enter");
  check("a kernel and its call by keys", (await viewer.detailsOf(311000)).name.startsWith("cudaLaunchCooperativeKernel"), true);
  await viewer.tell(() => document.querySelector("#tabs [tabindex='0']").focus());
  const first = await viewer.tell(() => document.activeElement.dataset.tab);
  await viewer.press("ArrowRight");
  check("tabs by arrows",
    await viewer.tell((was) => document.activeElement.dataset.tab !== was && document.activeElement.getAttribute("aria-selected"), first),
    "true");
  await viewer.close();
}

/** @param {any} with_ */
export async function looks(with_) {
  await scenario("sizes and colours", () => sizesAndColours(with_));
  await scenario("the keyboard alone", () => keyboardAlone(with_));
}
