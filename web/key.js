// The key that the server wants with every request. It is no cookie: a browser sends those to every port of a host, and another
// port may be another user's. Only this tab keeps it; other tabs of the same server (the same origin: host and port) may ask for it.

const NAME = "sonde-key";
/** So long, in ms, other tabs have to answer before the page says that it has no key; an answer after that reloads it. */
const PATIENCE = 1000;

/** @type {Promise<string> | null} */
let found = null;

/** Empty where there is none: then the server says what to do. @returns {Promise<string>} */
export function findKey() {
  found ??= find();
  return found;
}

async function find() {
  const token = takeToken();
  const others = new BroadcastChannel(NAME);
  const key = (token && await exchange(token)) || sessionStorage.getItem(NAME) || await ask(others);
  if (key) {
    sessionStorage.setItem(NAME, key);
    others.onmessage = ({ data }) => {
      if (data === "key?")
        others.postMessage({ key });
    };
  }
  return key;
}

/** The token of the address that was printed; it does not stay there. */
function takeToken() {
  const token = new URLSearchParams(location.search).get("token");
  if (token)
    history.replaceState(null, "", location.pathname + location.hash);
  return token;
}

/** @param {string} token good for one use */
async function exchange(token) {
  const answer = await fetch("/api/key", { credentials: "omit", headers: { "Sonde-Token": token } });
  return answer.ok ? (await answer.json()).key : "";
}

/** @param {BroadcastChannel} others @returns {Promise<string>} */
function ask(others) {
  return new Promise((resolve) => {
    let late = false;
    others.onmessage = ({ data }) => {
      if (typeof data.key !== "string")
        return;
      resolve(data.key);
      if (late) {
        sessionStorage.setItem(NAME, data.key);
        location.reload();
      }
    };
    others.postMessage("key?");
    setTimeout(() => { late = true; resolve(""); }, PATIENCE);
  });
}
