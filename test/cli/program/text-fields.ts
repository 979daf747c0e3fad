/**
 * Reads the `text` output of a command as a script would: `Label: value` lines, and blocks of indented lines under a `Label:` line
 * that a blank line closes. Anything else is an error, so that a test notices output that a script could not read.
 */

export interface TextField {
  readonly label: string
  readonly value: string
}

export function readTextFields(text: string): readonly TextField[] {
  // oxlint-disable-next-line no-control-regex -- these are the characters to find
  const control = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(text)
  if (control !== null)
    throw new Error(`a control character at ${control.index}: ${JSON.stringify(text.slice(0, 400))}`)
  if (text !== '' && !text.endsWith('\n')) throw new Error(`the last line is not ended: ${JSON.stringify(text)}`)
  const fields: TextField[] = []
  let block: { label: string; lines: string[] } | undefined
  const close = (): void => {
    if (block !== undefined) fields.push({ label: block.label, value: block.lines.join('\n') })
    block = undefined
  }
  for (const line of text.split('\n').slice(0, -1)) {
    if (block !== undefined && line === '') close()
    else if (block !== undefined) {
      if (!line.startsWith('  ')) throw new Error(`a line within the block "${block.label}" is not indented: ${line}`)
      block.lines.push(line.slice(2))
    } else if (line !== '') {
      const [, label = '', value = ''] = /^([A-Za-z][\w /.'()-]*):(?: (.*))?$/.exec(line) ?? []
      if (label === '') throw new Error(`neither a field nor a block: ${JSON.stringify(line)}`)
      if (value === '' && line.endsWith(':')) block = { label, lines: [] }
      else fields.push({ label, value })
    }
  }
  if (block !== undefined) throw new Error(`the block "${block.label}" is not closed by a blank line`)
  return fields
}

/** The values of a label, in order. */
export function valuesOf(fields: readonly TextField[], label: string): readonly string[] {
  return fields.filter((field) => field.label === label).map(({ value }) => value)
}
