/** Makes text of an agent safe for a terminal: control characters and bidirectional overrides become visible escapes. */

/** C0 without tab and line feed, DEL, C1, and the characters that reorder text or hide in it. */
// oxlint-disable-next-line no-control-regex -- these are the characters to find
const unsafe = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069\uFEFF]/g

/** Keeps tabs and line feeds. */
export function neutralize(text: string): string {
  return text.replace(unsafe, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
