/**
 * What a route of the hub's own is: where it is, who may use it, what it takes and what it answers, as schemas. The router
 * checks by them, and the OpenAPI document is made of the same, so that neither can say what the other does not.
 */
import type { ServerResponse } from 'node:http'
import type { Caller } from '@parley/a2a'
import { z } from 'zod'
import type { AuditEvent } from '../audit/entry.ts'
import type { Grant } from '../auth/grant.ts'
import type { Refusal } from './answer.ts'
import type { RouteRequest } from './route-request.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/**
 * `admin`: who has the admin key, signed in at the console, or has a token with the scope `admin`. `key`: the same without
 * the session, for signing in. `maker`: who may use the agent that the path names, by a token; and the admin. `anybody`: who
 * has nothing yet to show, because they come to sign in.
 */
export type Right = 'admin' | 'key' | 'maker' | 'anybody'

/** Who was let in. */
export type Who =
  /** `admin`, or the caller that a token named. */
  | {
      readonly isAdmin: true
      readonly subject: string
      readonly by: 'key' | 'token' | 'session'
      /** The grant of the request, if it can end while a stream is open. */
      readonly grant?: Grant | undefined
    }
  | { readonly isAdmin: false; readonly subject: string; readonly caller: Caller }
  /** Nobody looked. */
  | { readonly isAdmin: false; readonly subject: ''; readonly caller?: undefined }

export interface Given<Params, Query, Body> {
  readonly params: Params
  readonly query: Query
  readonly body: Body
  readonly who: Who
  readonly request: RouteRequest
  /** Aborted when whoever asked has gone. */
  readonly signal: AbortSignal
}

/** A body with what else there is to say: headers for the client, and for the audit which thing it was about. */
export class Told<Body> {
  readonly body: Body
  readonly headers: Readonly<Record<string, string>>
  readonly about: About
  constructor(body: Body, more: { readonly headers?: Readonly<Record<string, string>>; readonly about?: About }) {
    this.body = body
    this.headers = more.headers ?? {}
    this.about = more.about ?? {}
  }
}

export interface About {
  readonly key?: string
  readonly agent?: string
  readonly task?: string
}

interface Common<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> {
  readonly method: Method
  /** `/admin/tasks/{id}`; what is in braces is a member of `params`. */
  readonly path: string
  /** By which programs call it. */
  readonly name: string
  readonly summary: string
  /** Where there is more to say. */
  readonly description?: string
  readonly tag: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** Default: 64 kB. */
  readonly mostBytes?: number
  /** Default: `admin`. */
  readonly right?: Right
  /** In the audit, if it went well. Default: `admin`. */
  readonly event?: AuditEvent
}

type Input<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType> = Given<
  z.output<Params>,
  z.output<Query>,
  z.output<Body>
>

export interface JsonRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends Common<Params, Query, Body> {
  readonly answer: Answer
  /** Default: 200. */
  readonly status?: 200 | 201
  handle(given: Input<Params, Query, Body>): Reply<z.input<Answer>> | Promise<Reply<z.input<Answer>>>
}

type Reply<Body> = Body | Told<Body>

/** Sends a browser elsewhere. */
export interface RedirectRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
> extends Common<Params, Query, z.ZodType> {
  redirect(given: Input<Params, Query, z.ZodType>): Promise<Redirect>
}

export interface Redirect {
  readonly location: string
  readonly cookies: readonly string[]
  /** For the audit: who it was that came, or why they were not let in. */
  readonly subject?: string
  readonly refused?: Refusal
}

/** Answers with server-sent events, for as long as somebody listens. */
export interface StreamRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
> extends Common<Params, Query, z.ZodType> {
  /** What each event may be, by its name. */
  readonly events: Readonly<Record<string, z.ZodType>>
  /** Throws RouteError before it has written anything. */
  stream(given: Input<Params, Query, z.ZodType>, response: ServerResponse): void | Promise<void>
}

export type Route = JsonRoute | StreamRoute | RedirectRoute

const nothing = z.object({})

/** With the types of its own schemas inside, and as one of many outside. */
export function route<
  Params extends z.ZodObject = typeof nothing,
  Query extends z.ZodObject = typeof nothing,
  Body extends z.ZodType = z.ZodUndefined,
  Answer extends z.ZodType = z.ZodType,
>(definition: JsonRoute<Params, Query, Body, Answer>): Route {
  return definition
}

export function redirectRoute<Params extends z.ZodObject = typeof nothing, Query extends z.ZodObject = typeof nothing>(
  definition: RedirectRoute<Params, Query>,
): Route {
  return definition
}

export function streamRoute<Params extends z.ZodObject = typeof nothing, Query extends z.ZodObject = typeof nothing>(
  definition: StreamRoute<Params, Query>,
): Route {
  return definition
}
