/**
 * Size limits for a configuration sent to a running hub. Parsing YAML takes up to 40 µs per value, on the event loop, so the text
 * is measured before it is parsed. The file that the hub starts with has no limit.
 */
export const textLimits = {
  bytes: 256_000,
  lines: 5_000,
  /** Commas, and opening brackets and braces. */
  marks: 5_000,
  /** Nesting of brackets and braces. */
  depth: 100,
} as const

/** Describes the limit that the text exceeds; `undefined` if it exceeds none. Counts characters in strings and comments too. */
export function exceededTextLimit(text: string): string | undefined {
  if (Buffer.byteLength(text) > textLimits.bytes) return `${textLimits.bytes} bytes`
  let lines = 1
  let marks = 0
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (char === '\n') lines++
    else if (char === ',') marks++
    else if (char === '[' || char === '{') {
      marks++
      if (++depth > textLimits.depth) return `${textLimits.depth} brackets in one another`
    } else if ((char === ']' || char === '}') && depth > 0) depth--
  }
  if (lines > textLimits.lines) return `${textLimits.lines} lines`
  return marks > textLimits.marks ? `${textLimits.marks} commas and brackets` : undefined
}
