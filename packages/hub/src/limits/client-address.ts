/** The network address that counts as one sender. */
export { clientNetwork as senderOf } from '@parley/a2a/node'

/** Behind a trusted proxy, the last address in X-Forwarded-For: the proxy saw that one. */
export function clientAddress(
  request: { header(name: string): string | undefined; readonly remoteAddress?: string | undefined },
  trustProxy: boolean,
): string | undefined {
  const forwarded = trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded === undefined || forwarded === '' ? request.remoteAddress : forwarded
}
