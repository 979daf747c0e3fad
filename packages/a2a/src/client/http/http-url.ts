/** URLs as users and peers give them, URLs as errors show them, and a URL that is only an identifier. */
import { A2AError } from '../../model/error.ts'

export function parseHttpUrl(given: string): URL {
  const url = URL.canParse(given) && new URL(given)
  if (!url || !isHttpUrl(url)) throw new A2AError('INVALID_PARAMS', 'Invalid URL')
  url.hash = ''
  return url
}

/** A name and password in a URL are visible everywhere the URL is shown. */
export function isHttpUrl({ protocol, username, password }: URL): boolean {
  return /^https?:$/.test(protocol) && username + password === ''
}

/** Simple tasks, as the interface of a card names it (docs/guides/simple.md). An identifier, never fetched. */
export const simpleTasksBindingUri = 'https://parley.dev/bindings/simple-tasks/v1'

/** Without the query, which may contain a key. */
export const urlWithoutQuery = ({ origin, pathname }: URL): string => origin + pathname
