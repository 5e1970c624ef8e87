/** The operator's token: in this tab only, until it is closed or the operator signs out. Never in an address or a cookie. */

const NAME = "blender-dp operator";

/** The token of this tab, if there is one. */
export function storedToken(): string | null {
  return sessionStorage.getItem(NAME);
}

/** Remember the token for this tab; null forgets it. */
export function storeToken(token: string | null): void {
  if (token === null) sessionStorage.removeItem(NAME);
  else sessionStorage.setItem(NAME, token);
}
