/** One call of the admin API: typed by the operation's name, with the session's token where something is changed. */
import { operations } from './admin.ts'
import type { Error as Told, Operations } from './admin.ts'
import { Problem } from './problem.ts'
import { csrfToken, sessionEnded } from './session-state.ts'

export type OperationName = keyof Operations
export type AnswerOf<Name extends OperationName> = Operations[Name]['answer']

/** Left out where the operation takes nothing, optional where it needs nothing. */
type Wanted<T, Key extends string> = [T] extends [Readonly<Record<string, never>> | undefined]
  ? unknown
  : Nothing extends T
    ? { readonly [K in Key]?: T }
    : undefined extends T
      ? { readonly [K in Key]?: T }
      : { readonly [K in Key]: T }
/** What may be left out may be this. */
type Nothing = { readonly [name in never]: unknown }

export type ArgumentsOf<Name extends OperationName> = Wanted<Operations[Name]['params'], 'params'> &
  Wanted<Operations[Name]['query'], 'query'> &
  Wanted<Operations[Name]['body'], 'body'> & { readonly signal?: AbortSignal }

interface Loose {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export async function call<Name extends OperationName>(
  name: Name,
  ...[given]: Nothing extends ArgumentsOf<Name> ? [ArgumentsOf<Name>?] : [ArgumentsOf<Name>]
): Promise<AnswerOf<Name>> {
  const [method] = operations[name]
  const { body, signal } = (given ?? {}) as Loose
  const path = pathOf(name, given)
  return (await send(method, path, { body, signal })) as AnswerOf<Name>
}

/** Where an operation is, for links and for "copy as curl". */
export function pathOf(name: OperationName, { params = {}, query = {} }: Loose = {}): string {
  const [, pattern] = operations[name]
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '') search.set(key, String(value))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

async function send(
  method: string,
  path: string,
  { body, signal }: { body?: unknown; signal?: AbortSignal | undefined },
): Promise<unknown> {
  const request = `${method} ${path}`
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken()
  if (body !== undefined) headers['content-type'] = 'application/json'
  let answer: Response
  try {
    answer = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw new Problem('The hub cannot be reached. It may be restarting.', { code: 'UNREACHABLE', request, cause })
  }
  const said = await answer.text()
  if (answer.ok) return said === '' ? {} : JSON.parse(said)
  if (answer.status === 401) sessionEnded()
  throw refusal(answer.status, said, request)
}

function refusal(status: number, said: string, request: string): Problem {
  try {
    const { error } = JSON.parse(said) as Told
    const { code, message, violations = [] } = error
    return new Problem(message, { code, status, request, violations })
  } catch {
    return new Problem(`The hub answered with status ${status}.`, { code: 'INTERNAL', status, request })
  }
}
