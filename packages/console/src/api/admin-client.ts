/** Calls the admin API. Typed by operation name; sends the session's CSRF token with requests that change something. */
import { operations, type Error as ErrorResponse, type Operations } from './admin.ts'
import { Problem, unreachableProblem } from './problem.ts'
import { csrfToken, markSignedOut } from './session-state.ts'

export type OperationName = keyof Operations
export type AdminResponse<Name extends OperationName> = Operations[Name]['response']

/** A part of the input: absent if the operation takes none, and optional if it requires nothing of it. */
type InputPart<Name extends OperationName, Part extends string> = Part extends keyof Operations[Name]
  ? EmptyObject extends Operations[Name][Part]
    ? { readonly [K in Part]?: Operations[Name][Part] }
    : undefined extends Operations[Name][Part]
      ? { readonly [K in Part]?: Operations[Name][Part] }
      : { readonly [K in Part]: Operations[Name][Part] }
  : unknown
/** Assignable to `T` only if every member of `T` is optional. */
type EmptyObject = { readonly [name in never]: unknown }

export type AdminArguments<Name extends OperationName> = InputPart<Name, 'params'> &
  InputPart<Name, 'query'> &
  InputPart<Name, 'body'> & { readonly signal?: AbortSignal }

interface UntypedArguments {
  readonly params?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  readonly body?: unknown
  readonly signal?: AbortSignal
}

export async function callAdmin<Name extends OperationName>(
  name: Name,
  ...[args]: EmptyObject extends AdminArguments<Name> ? [AdminArguments<Name>?] : [AdminArguments<Name>]
): Promise<AdminResponse<Name>> {
  const [method] = operations[name]
  const given = (args ?? {}) as UntypedArguments
  return (await send(method, adminPath(name, given), given)) as AdminResponse<Name>
}

/** The path of an operation, for links and for "copy as curl". */
export function adminPath(name: OperationName, { params = {}, query = {} }: UntypedArguments = {}): string {
  const [, pattern] = operations[name]
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(String(params[key])))
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query)) {
    if (Array.isArray(value) ? value.length > 0 : value !== undefined && value !== '') search.set(key, String(value))
  }
  return search.size === 0 ? path : `${path}?${search}`
}

async function send(method: string, path: string, { body, signal }: UntypedArguments): Promise<unknown> {
  const request = `${method} ${path}`
  const headers: Record<string, string> = { accept: 'application/json' }
  if (method !== 'GET') headers['x-csrf-token'] = csrfToken()
  if (body !== undefined) headers['content-type'] = 'application/json'
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      credentials: 'same-origin',
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    })
  } catch (cause) {
    if (signal?.aborted === true) throw cause
    throw unreachableProblem(request, cause)
  }
  const responseText = await response.text()
  if (response.ok) return responseText === '' ? {} : JSON.parse(responseText)
  if (response.status === 401) markSignedOut()
  throw problemFromResponse(response.status, responseText, request)
}

function problemFromResponse(status: number, responseText: string, request: string): Problem {
  try {
    const { error } = JSON.parse(responseText) as ErrorResponse
    const { code, message, violations = [] } = error
    return new Problem(message, { code, status, request, violations })
  } catch {
    return new Problem(`The hub answered with status ${status}.`, { code: 'INTERNAL', status, request })
  }
}
