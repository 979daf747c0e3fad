/**
 * A route of the hub: its path, its access and the schemas of its input and output. The router validates by them, and the OpenAPI
 * document is generated from them, so that the two cannot differ.
 */
import type { ServerResponse } from 'node:http'
import type { Caller } from '@parley/a2a'
import type { ResponseMemory } from '@parley/a2a/internal'
import { z, type ZodType } from 'zod'
import type { AuditEvent } from '../audit/audit-log.ts'
import type { Grant } from '../auth/grant-streams.ts'
import { RouteError } from '../http/json-response.ts'
import type { RouteRequest } from '../http/route-request.ts'

type HttpMethod = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** `GET /admin/tasks/{id}`; names in braces are members of `params`. */
export type RequestLine = `${HttpMethod} /${string}`

/**
 * `admin`: the admin key, a console session, or a token with the scope `admin`. `key`: the same without a session, for signing in.
 * `maker`: a token that may use the agent of the path; and the admin. `anybody`: unauthenticated, for signing in.
 */
export type RouteAccess = 'admin' | 'key' | 'maker' | 'anybody'

/** The authenticated caller. */
export type AdminCaller =
  /** `admin`, or the caller that a token named. */
  | {
      readonly isAdmin: true
      readonly subject: string
      readonly by: 'key' | 'token' | 'session'
      /** The grant of the request, if it can end while a stream is open. */
      readonly grant?: Grant | undefined
    }
  | { readonly isAdmin: false; readonly subject: string; readonly caller: Caller }
  /** Not authenticated. */
  | { readonly isAdmin: false; readonly subject: ''; readonly caller?: undefined }

export interface RouteInput<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly who: AdminCaller
  readonly request: RouteRequest
  /** Counts what is read for the response, if that may be large. */
  readonly memory: ResponseMemory
  /** Aborted when the client has disconnected. */
  readonly signal: AbortSignal
}

/** A body with response headers, and what the audit records about the request. */
export class RouteResult<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  readonly auditTarget: AuditTarget
  /** The caller, of a route that signs in. Default: the authenticated caller. */
  readonly subject: string | undefined
  constructor(
    body: Body,
    more: {
      readonly headers?: Readonly<Record<string, string>>
      readonly auditTarget?: AuditTarget
      readonly subject?: string
    },
  ) {
    this.body = body
    this.headers = more.headers ?? {}
    this.auditTarget = more.auditTarget ?? {}
    this.subject = more.subject
  }
}

export interface AuditTarget {
  readonly key?: string
  readonly agent?: string
  readonly task?: string
}

interface RouteBase<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> {
  /** The operation id. */
  readonly name: string
  readonly summary: string
  /** Optional details. */
  readonly description?: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Default: 64 kB. */
  readonly maxBytes?: number
  /** Default: `admin`. */
  readonly access?: RouteAccess
  /** The audit event on success. Default: `admin`. */
  readonly event?: AuditEvent
  /** Whether only failures are in the audit: a request that only precedes another. */
  readonly isPreflight?: true
}

type InputOf<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = RouteInput<
  z.output<Params>,
  z.output<Query>,
  z.output<Body>
>

export interface JsonRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends RouteBase<Params, Query, Body> {
  readonly response: Answer
  /** Default: 200. */
  readonly status?: 200 | 201
  handle(given: InputOf<Params, Query, Body>): RouteReply<z.input<Answer>> | Promise<RouteReply<z.input<Answer>>>
}

type RouteReply<Body> = Body | RouteResult<Body>

/** A route that redirects a browser. */
export interface RedirectRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
> extends RouteBase<Params, Query, z.ZodType> {
  redirect(given: InputOf<Params, Query, z.ZodType>): Promise<RedirectResult>
}

export interface RedirectResult {
  readonly location: string
  readonly cookies: readonly string[]
  /** For the audit: the caller, or why it was refused. */
  readonly subject?: string
  readonly error?: RouteError
}

/** A route that sends server-sent events until the client disconnects. */
export interface StreamRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
> extends RouteBase<Params, Query, z.ZodType> {
  /** The schema of each event, by name. */
  readonly events: Readonly<Record<string, z.ZodType>>
  /** May throw RouteError only before it has written anything. */
  stream(given: InputOf<Params, Query, z.ZodType>, response: ServerResponse): void | Promise<void>
}

type UntaggedRoute = (JsonRoute | StreamRoute | RedirectRoute) & {
  readonly method: HttpMethod
  readonly path: string
}

/** `tag` is its group in the OpenAPI document. */
export type AdminRoute = UntaggedRoute & { readonly tag: string }

export function taggedRoutes(tag: string, routes: readonly UntaggedRoute[]): readonly AdminRoute[] {
  return routes.map((route) => ({ ...route, tag }))
}

const emptyObject = z.object({})

/** Typed by its own schemas inside, and as a generic route outside. */
export function jsonRoute<
  Params extends z.ZodObject = typeof emptyObject,
  Query extends z.ZodObject = typeof emptyObject,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(line: RequestLine, definition: JsonRoute<Params, Query, Body, Answer>): UntaggedRoute {
  return { ...definition, ...parseRequestLine(line) }
}

export function redirectRoute<
  Params extends z.ZodObject = typeof emptyObject,
  Query extends z.ZodObject = typeof emptyObject,
>(line: RequestLine, definition: RedirectRoute<Params, Query>): UntaggedRoute {
  return { ...definition, ...parseRequestLine(line) }
}

export function streamRoute<
  Params extends z.ZodObject = typeof emptyObject,
  Query extends z.ZodObject = typeof emptyObject,
>(line: RequestLine, definition: StreamRoute<Params, Query>): UntaggedRoute {
  return { ...definition, ...parseRequestLine(line) }
}

function parseRequestLine(line: RequestLine): Pick<UntaggedRoute, 'method' | 'path'> {
  const [method, path] = line.split(' ') as [HttpMethod, string]
  return { method, path }
}

/** Throws RouteError with all errors, each with the path of its field. `where` names inputs that are not fields. */
export function validateInput<T>(schema: ZodType<T>, value: unknown, where = 'body'): T {
  const read = schema.safeParse(value)
  if (read.success) return read.data
  const violations = read.error.issues.map(({ path, message }) => ({
    field: path.map(String).join('.') || where,
    description: message,
  }))
  const said = violations.map(({ field, description }) => `${field}: ${description}`).join('; ')
  throw new RouteError('INVALID_PARAMS', said, { violations })
}

/** A time in a response. */
export const timestamp = z.iso.datetime().describe('In UTC, such as 2030-01-31T12:00:00.000Z.')

/** A time in a query; parsed to milliseconds. */
export const timeQuery = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2030-01-31T12:00:00Z' })
  .transform((text) => Date.parse(text))

export function limitField(defaultLimit: number, max: number) {
  return z.coerce
    .number('must be a whole number')
    .int('must be a whole number')
    .min(1, 'must be a number above 0')
    .max(max, `ask for up to ${max}`)
    .default(defaultLimit)
    .describe(`How many at most. Default ${defaultLimit}.`)
}

/** A list: by repeating the field, or with commas. */
export function listOf<Item extends z.ZodType>(item: Item) {
  return z.preprocess(
    (value) =>
      value === undefined
        ? undefined
        : [value].flat().flatMap((one) => (typeof one === 'string' ? one.split(',') : [one])),
    z.array(item),
  )
}

/** Names of agents, callers and contexts: any text, up to a length. */
export const nameField = z.string().min(1, 'is empty').max(1_024, 'is longer than 1024 characters')

/** Any JSON object. */
export const jsonObject = z.record(z.string(), z.unknown())
