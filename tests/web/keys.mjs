// Who may read: the tab the address was opened in, after a reload and Back as well, and other tabs beside it; no page of another origin, on
// no way.
import { createServer } from "node:http";
import { check, scenario } from "./support.mjs";

/** @param {any} page @returns {Promise<string>} "shown", or what the page says instead */
async function outcome(page) {
  await page.waitForFunction(() => window.sonde?.started || !document.getElementById("message").hidden);
  return page.evaluate(() => (window.sonde?.started ? "shown" : document.getElementById("message").textContent));
}

/** A tab that others have to answer may say that it has no key until they do. @param {any} page @returns {Promise<string>} */
async function shown(page) {
  await page.waitForFunction(() => window.sonde?.started);
  return "shown";
}

/** @param {{ browser: any, sonde: any, configuration: any }} with_ */
async function tabs({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cuda);
  const context = await browser.context();
  /** @type {string[]} */
  const set = [];
  context.on("response", async (/** @type {any} */ response) => {
    // A tab that was closed meanwhile cannot be asked; what it was given is seen among the cookies below.
    const headers = await response.allHeaders().catch(() => ({}));
    if (headers["set-cookie"])
      set.push(response.url());
  });
  const page = await context.newPage();
  await page.goto(server.url);
  check("keys: the address that was printed opens the page", await outcome(page), "shown");
  check("keys: the token does not stay in the address", page.url().includes("token"), false);
  await page.reload();
  check("keys: it may be loaded again", await outcome(page), "shown");
  await page.goto("about:blank");
  await page.goBack();
  check("keys: Back leads to it", await outcome(page), "shown");
  const typed = await context.newPage();
  await typed.goto(`${server.origin}/#panel=session`);
  check("keys: another tab with its address", await shown(typed), "shown");
  const [opened] =
    await Promise.all([context.waitForEvent("page"), page.evaluate(() => { window.open(location.href, "_blank", "noopener"); })]);
  check("keys: a tab that it opened", await shown(opened), "shown");
  await typed.close();
  await opened.close();
  const late = await context.newPage();
  await late.addInitScript(() => {
    const post = BroadcastChannel.prototype.postMessage;
    BroadcastChannel.prototype.postMessage = function (data) { Object.assign(window, { ask: () => post.call(this, data) }); };
  });
  await late.goto(`${server.origin}/`);
  check("keys: a tab whose question comes late says what to do", (await outcome(late)).includes("Return"), true);
  await late.evaluate(() => /** @type {any} */ (window).ask());
  check("keys: and goes on when it is answered", await shown(late), "shown");
  await late.close();
  await page.goto(server.url);
  check("keys: a used address where the key is known", await outcome(page), "shown");
  check("keys: there are no cookies", [await context.cookies(), await page.evaluate(() => document.cookie), set], [[], "", []]);
  await context.close();
  const stranger = await browser.context();
  const refused = await stranger.newPage();
  await refused.goto(server.url);
  check("keys: a used address says what to do", (await outcome(refused)).includes("Return"), true);
  await stranger.close();
  await server.end();
}

/**
 * What a page of another user's server at another port of the host gets.
 * @param {{ browser: any, sonde: any, configuration: any }} with_
 */
async function strangers({ browser, sonde, configuration }) {
  const server = await sonde.view(configuration.cuda);
  /** @type {Array<string | undefined>} */
  const cookies = [];
  const other = createServer((request, response) => {
    cookies.push(request.headers.cookie);
    response.setHeader("Content-Type", "text/html");
    response.end("<!DOCTYPE html><title>another</title>");
  });
  await new Promise((resolve) => { other.listen(0, "127.0.0.1", () => resolve(null)); });
  const { port } = /** @type {import("node:net").AddressInfo} */ (other.address());
  const context = await browser.context();
  const page = await context.newPage();
  await page.goto(server.url);
  await outcome(page);
  const key = await page.evaluate(() => sessionStorage.getItem("sonde-key"));
  const evil = await context.newPage();
  await evil.goto(`http://127.0.0.1:${port}/`);
  const got = await evil.evaluate(async ([origin, known]) => {
    const uri = `${origin}/api/reports`;
    const text = (/** @type {RequestInit} */ how) => fetch(uri, how).then((answer) => answer.text()).catch(() => "");
    const channel = new BroadcastChannel("sonde-key");
    const told = new Promise((resolve) => {
      channel.onmessage = ({ data }) => resolve(data);
      channel.postMessage("key?");
      setTimeout(() => resolve(null), 500);
    });
    const script = new Promise((resolve) => {
      const element = document.createElement("script");
      element.onload = () => resolve("loaded");
      element.onerror = () => resolve("");
      element.src = `${origin}/api.js`;
      document.body.append(element);
    });
    return {
      plain: await text({ credentials: "include" }), opaque: await text({ credentials: "include", mode: "no-cors" }),
        withKey: await text({ headers: { "Sonde-Key": known } }),
      script: await script, told: await told, stored: sessionStorage.getItem("sonde-key"), cookie: document.cookie,
    };
  }, [server.origin, key]);
  check("keys: a page of another port gets nothing", got,
    { plain: "", opaque: "", withKey: "", script: "", told: null, stored: null, cookie: "" });
  await page.goto(`http://127.0.0.1:${port}/`);
  check("keys: nor in the same tab", await page.evaluate(() => sessionStorage.getItem("sonde-key")), null);
  check("keys: no browser sends it anything", cookies.filter((cookie) => cookie), []);
  await context.close();
  other.close();
  await server.end();
}

/** @param {any} with_ */
export async function keys(with_) {
  await Promise.all([scenario("keys: tabs", () => tabs(with_)), scenario("keys: strangers", () => strangers(with_))]);
}
