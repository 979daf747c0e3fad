/** Entry point `@parley/a2a/command-line`: what command lines share. It loads nothing else, because `--help` must not load the SDK. */
export { nearestName } from './nearest-name.ts'

/**
 * C0 without tab and line feed, DEL, C1, and the characters that reorder text or hide in it. The joiners U+200C and U+200D stay: scripts
 * and emojis need them.
 */
const unsafe =
  // oxlint-disable-next-line no-control-regex -- these are the characters to find
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu

/**
 * Makes text that others wrote safe for a terminal: control characters, bidirectional overrides and invisible characters become visible
 * escapes. Keeps tabs and line feeds. In JSON the escapes have the same value.
 */
export function neutralize(text: string): string {
  return text.replace(unsafe, (one) =>
    one.replaceAll(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  )
}
