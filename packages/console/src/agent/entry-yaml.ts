/** Formats an agent's entry as YAML, so that the user sees what the hub will write to the configuration file. */

type Value = unknown

export function entryYaml(name: string, entry: Readonly<Record<string, Value>>): string {
  return `agents:\n  ${scalar(name)}:\n${lines(entry, 4)}`
}

function lines(value: Value, indent: number): string {
  const pad = ' '.repeat(indent)
  if (Array.isArray(value)) return value.map((one: Value) => `${pad}-${valueAfterKey(one, indent)}`).join('')
  return Object.entries(value as object)
    .filter(([, one]) => one !== undefined)
    .map(([key, one]: [string, Value]) => `${pad}${scalar(key)}:${valueAfterKey(one, indent)}`)
    .join('')
}

/** The value after a dash or a colon: on the same line, or on the lines below. */
function valueAfterKey(value: Value, indent: number): string {
  if (isFlat(value)) return ` ${flat(value)}\n`
  return `\n${lines(value, indent + 2)}`
}

function isFlat(value: Value): boolean {
  if (typeof value !== 'object' || value === null) return true
  const inside: readonly Value[] = Object.values(value)
  if (inside.length === 0) return true
  return Array.isArray(value) && inside.every((one) => typeof one !== 'object' || one === null)
}

function flat(value: Value): string {
  if (typeof value === 'string') return scalar(value)
  if (Array.isArray(value)) return `[${value.map((one: Value) => flat(one)).join(', ')}]`
  return JSON.stringify(value)
}

/** Quotes words that some YAML version does not read as text, and text that contains a character with a meaning in YAML. */
function scalar(text: string): string {
  const isPlain = /^[A-Za-z_./~@][\w./~@:+-]*( [\w./~@+(-][\w./~@:+()-]*)*$/.test(text)
  const isWord = !/^(~|null|true|false|yes|no|on|off|y|n|\.(inf|nan))$/i.test(text)
  return isPlain && isWord && !/[:@]$|: |^[@.~]$/.test(text) && !text.startsWith('@') ? text : JSON.stringify(text)
}
