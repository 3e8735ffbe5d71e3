// Every view has an address: #/page/rest?name=value. The scope that is looked at is the parameter `in`.

export function parse(hash) {
  const [, path = "", query = ""] = /^#?\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const [page, ...rest] = path.split("/").map(decoded);
  return { page: page || "search", rest: rest.join("/"), params: new URLSearchParams(query) };
}

// An address. Values may be texts, numbers or lists; what is empty is left out.
export function address(page, { rest = "", params = {}, scope = "" } = {}) {
  const query = new URLSearchParams();
  if (scope) query.set("in", scope);
  for (const [name, given] of Object.entries(params)) {
    for (const each of [given].flat()) {
      if (each !== "" && each !== null && each !== undefined && each !== false) query.append(name, String(each));
    }
  }
  const path = [page, ...(rest ? [rest] : [])].map(encodeURIComponent).join("/");
  const asked = query.toString();
  return `#/${path}${asked ? `?${asked}` : ""}`;
}

export function go(where, { quietly = false } = {}) {
  if (where === location.hash || quietly) {
    history.replaceState(null, "", where);
    dispatchEvent(new HashChangeEvent("hashchange"));
  } else {
    location.hash = where;
  }
}

// A part of an address as it was meant; as it stands when it is malformed.
export function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
