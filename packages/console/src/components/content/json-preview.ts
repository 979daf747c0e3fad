/** A collapsed object or list in one short line: `{a: 1, b: "x", c: {…}}`. The cost is that of the line, however large the value. */

const defaultLength = 72
const maxStringLength = 32

export function previewOf(value: unknown, maxLength = defaultLength): string {
  if (typeof value !== 'object' || value === null) return leafPreview(value)
  const isList = Array.isArray(value)
  const [before, after] = isList ? ['[', ']'] : ['{', '}']
  let text = ''
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue
    const separator = text === '' ? '' : ', '
    const entry = isList ? itemPreview(value[Number(key)]) : `${keyPreview(key)}: ${itemPreview(value[key as never])}`
    if (text.length + separator.length + entry.length > maxLength) return `${before}${text}${separator}…${after}`
    text += separator + entry
  }
  return `${before}${text}${after}`
}

/** Within an object or a list: what is nested further is not shown. */
function itemPreview(value: unknown): string {
  if (typeof value !== 'object' || value === null) return leafPreview(value)
  if (Array.isArray(value)) return value.length === 0 ? '[]' : '[…]'
  for (const key in value) if (Object.hasOwn(value, key)) return '{…}'
  return '{}'
}

function leafPreview(value: unknown): string {
  if (typeof value !== 'string') return String(value)
  return JSON.stringify(value.length > maxStringLength ? `${value.slice(0, maxStringLength)}…` : value)
}

function keyPreview(key: string): string {
  if (/^[A-Za-z_$][\w$-]*$/.test(key)) return key
  return JSON.stringify(key.length > maxStringLength ? `${key.slice(0, maxStringLength)}…` : key)
}
