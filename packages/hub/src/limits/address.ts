/** Which network address a request comes from, and which addresses count as one sender. */
export { senderNetwork as senderOf } from '@parley/a2a/server'

/** Behind a proxy that is trusted, the last of the addresses that were added to X-Forwarded-For: the proxy saw that one. */
export function addressOf(
  request: { header(name: string): string | undefined; readonly remoteAddress?: string | undefined },
  trustProxy: boolean,
): string | undefined {
  const forwarded = trustProxy ? request.header('x-forwarded-for')?.split(',').at(-1)?.trim() : undefined
  return forwarded === undefined || forwarded === '' ? request.remoteAddress : forwarded
}
