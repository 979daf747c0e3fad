/**
 * How much a configuration may hold that is sent to a running hub. To read YAML takes up to 40 µs for each value, on the
 * event loop: the text is counted before it is parsed. A file that the hub starts with has no limit.
 */
export const textLimits = {
  bytes: 256_000,
  lines: 5_000,
  /** Commas, and brackets and braces that open. */
  marks: 5_000,
  /** Of brackets and braces in one another. */
  depth: 100,
} as const

/** What is too much, in words; nothing if all is within the limits. Counts also what stands in texts and comments. */
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
