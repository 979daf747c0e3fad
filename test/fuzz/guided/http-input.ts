/**
 * An HTTP request as one input: a line with method and path, header lines, an empty line, the body. Not the bytes of the
 * wire: the length is added when it is sent, so that a mutated body is a body and not the next request.
 */
export interface HttpInput {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Uint8Array
}

/** What a client library would refuse to send is left out; other targets send bytes of every kind. */
export function readHttpInput(input: Uint8Array): HttpInput {
  const { head, body } = splitHttpInput(input)
  const [line = '', ...lines] = head.split('\n')
  const [, method = '', path = ''] = /^(\S*) ?(.*)$/.exec(line.replaceAll('\r', '')) ?? []
  return { method: methodOf(method), path: pathOf(path), headers: lines.flatMap(headerOf), body }
}

export function splitHttpInput(input: Uint8Array): { readonly head: string; readonly body: Uint8Array } {
  const bytes = Buffer.from(input.buffer, input.byteOffset, input.length)
  const at = bytes.indexOf('\n\n')
  if (at < 0) return { head: bytes.toString('latin1'), body: new Uint8Array() }
  return { head: bytes.toString('latin1', 0, at), body: input.subarray(at + 2) }
}

export function httpInput(
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = '',
): Uint8Array {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return Buffer.from([`${method} ${path}`, ...lines, '', body].join('\n'))
}

const methods = ['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']

function methodOf(text: string): string {
  return methods.includes(text) ? text : (methods.find((method) => method[0] === text[0]) ?? 'POST')
}

function pathOf(text: string): string {
  const path = text.replaceAll(/[^\x21-\x7e]/g, '').replaceAll('#', '')
  return path.startsWith('/') ? path : `/${path}`
}

/** Headers that belong to the connection are not the caller's to choose here. */
const ofConnection =
  /^(content-length|transfer-encoding|connection|upgrade|expect|te|trailer|host|keep-alive|proxy-.*)$/i

function headerOf(line: string): (readonly [string, string])[] {
  const [, name = '', value = ''] = /^([\w.-]+): ?(.*)$/.exec(line) ?? []
  if (name === '' || ofConnection.test(name)) return []
  return [[name, value.replaceAll(/[^\x20-\x7e\x80-\xff]/g, '').trim()]]
}
