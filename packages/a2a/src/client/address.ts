/** Addresses as users and peers give them, as errors name them, and the one that is a name only. */
import { A2AError } from '../model/error.ts'

export function addressOf(given: string): URL {
  const url = URL.canParse(given) ? new URL(given) : undefined
  if (!url || !isHttp(url))
    throw new A2AError('INVALID_PARAMS', 'The address must be an http(s) URL without a password')
  url.hash = ''
  return url
}

/** A name and a password in an address are shown to whoever sees the address. */
export function isHttp({ protocol, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && username + password === ''
}

/** The simple REST façade, as the interface of a card names it (docs/simple.md). An identifier, never fetched. */
export const simpleTasksBinding = 'https://parley.dev/bindings/simple-tasks/v1'

/** Without the query: it may hold a key. */
export const nameOf = ({ origin, pathname }: URL): string => origin + pathname
