/**
 * The message of an error as operators need it: with its causes, in one line. `fetch failed` alone explains nothing, and the message
 * of an A2AError is written for callers if it has a cause. Never show the result to a caller.
 */
const maxCauses = 5
const maxLength = 1_000

export function operatorMessage(reason: unknown): string {
  const messages: string[] = []
  let error: unknown = reason
  for (let depth = 0; depth < maxCauses && error !== undefined && error !== null; depth += 1) {
    const { name, cause } = Object(error) as { readonly name?: unknown; readonly cause?: unknown }
    // Libraries repeat the message of fetch in their own.
    const message = cause === undefined ? messageOf(error) : messageOf(error).replace(/(.): fetch failed$/, '$1')
    const isReplaced = cause !== undefined && (name === 'A2AError' || message === 'fetch failed')
    // Messages about a file name it themselves.
    const said = message.replace(/, \w+ '.*'$/, '')
    if (!isReplaced && said !== '' && !messages.some((outer) => outer.includes(said))) messages.push(message)
    error = cause
  }
  return messages.length === 0 ? messageOf(reason) || String(reason) : messages.join(': ')
}

function messageOf(error: unknown): string {
  const { message, errors, code } = Object(error) as {
    readonly message?: unknown
    readonly errors?: unknown
    readonly code?: unknown
  }
  if (typeof message === 'string' && message !== '') return oneLine(message)
  // A host with several addresses: each has an error of its own.
  if (Array.isArray(errors)) return [...new Set(errors.map(operatorMessage))].join('; ')
  return typeof error === 'string' ? oneLine(error) : typeof code === 'string' ? code : ''
}

function oneLine(text: string): string {
  const line = text.slice(0, maxLength).replaceAll(/\s+/g, ' ').trim()
  return text.length > maxLength ? `${line.toWellFormed()}…` : line
}
