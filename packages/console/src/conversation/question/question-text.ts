/**
 * The text of a question that is also a form. Agents repeat the fields of the form as lines of text, for clients without forms: here
 * the form shows them.
 */
import type { FormField } from './schema-form.ts'

/** `text` without the lines that describe a field, if each of the fields has one. */
export function withoutFieldLines(text: string, fields: readonly Pick<FormField, 'name' | 'label'>[]): string {
  const described = new Set<string>()
  const lines = text.split('\n').filter((line) => {
    const field = fields.find(({ name, label }) => describes(line, name) || describes(line, label))
    if (field !== undefined) described.add(field.name)
    return field === undefined
  })
  return described.size < fields.length ? text : lines.join('\n').trim()
}

/** `- city (optional): Where to`, `* **City**: Where to`, `1. city [Rome | Oslo]`, `- city`. */
function describes(line: string, name: string): boolean {
  const bullet = /^\s{0,8}(?:[-*•]|\d{1,3}[.)])\s+/.exec(line)?.[0]
  if (bullet === undefined) return false
  const rest = line.slice(bullet.length).replace(/^[*_`]{1,3}/, '')
  if (name === '' || !rest.toLowerCase().startsWith(name.toLowerCase())) return false
  return /^[*_`]{0,3}\s{0,8}(?:$|[:([–—-])/.test(rest.slice(name.length))
}
