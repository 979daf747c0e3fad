/** What a waiting task wants, read out of its status: a word, a form, a secret, credentials, or the results of tools. */
import { clientToolsExtension, credentialsExtension } from '@parley/a2a'
import type { Json, Message, Part, Struct, TaskStatus } from '@parley/a2a'
import { safeHref } from '../../parts/safe-href.ts'
import { fieldsOf, isStruct } from './form-of.ts'
import type { Field } from './form-of.ts'

export interface Scheme {
  readonly name: string
  /** Such as “HTTP bearer”. */
  readonly what: string
  readonly description: string | undefined
  /** Where one signs in, or learns how. */
  readonly link: string | undefined
}

export interface ToolCall {
  readonly toolUseId: string
  readonly name: string
  readonly input: Json
}

export interface Question {
  readonly isAuth: boolean
  readonly isSecret: boolean
  /** The credentials may come in the next message. */
  readonly isInBand: boolean
  /** By which the answer is told to belong to it. */
  readonly requestId: string | undefined
  readonly fields: readonly Field[] | undefined
  readonly schemes: readonly Scheme[]
  readonly links: readonly string[]
  readonly calls: readonly ToolCall[]
}

export function questionIn({ state, message }: TaskStatus): Question | undefined {
  const isAuth = state === 'TASK_STATE_AUTH_REQUIRED'
  if (!isAuth && state !== 'TASK_STATE_INPUT_REQUIRED') return undefined
  const parts = message?.parts ?? []
  const request = requestIn(message)
  const auth = parts.map(authRequestIn).find((one) => one !== undefined)
  const isInBand = auth?.['inBand'] === true
  return {
    isAuth,
    isSecret: request['sensitive'] === true || isInBand,
    isInBand,
    requestId: typeof request['requestId'] === 'string' ? request['requestId'] : undefined,
    fields: formIn(request, parts),
    schemes: schemesIn(auth),
    links: linksIn(parts),
    calls: parts.flatMap(callIn),
  }
}

/** Whether a composer would not do. */
export function needsForm({ isSecret, fields, calls, isAuth, isInBand }: Question): boolean {
  return isSecret || fields !== undefined || calls.length > 0 || (isAuth && isInBand)
}

/** Where agents put their forms: in the request of the extension, in a data part, or as a part that is one. */
function formIn(request: Struct, parts: readonly Part[]): readonly Field[] | undefined {
  const data = parts.flatMap((part) => ('data' in part && isStruct(part.data) ? [part.data] : []))
  for (const holder of [request, ...data]) {
    const { requestedSchema, schema, inputSchema, arguments: given } = holder
    const known = isStruct(given) ? given : {}
    const fields = fieldsOf(
      requestedSchema ?? schema ?? inputSchema ?? (holder === request ? undefined : holder),
      known,
    )
    if (fields !== undefined) return fields
  }
  return undefined
}

function requestIn(message: Message | undefined): Struct {
  const about = aboutIn(message?.metadata, clientToolsExtension)
  return isStruct(about['inputRequest']) ? about['inputRequest'] : {}
}

function authRequestIn(part: Part): Struct | undefined {
  const { type } = aboutIn(part.metadata, credentialsExtension)
  return type === 'auth-request' && 'data' in part && isStruct(part.data) ? part.data : undefined
}

function schemesIn(auth: Struct | undefined): readonly Scheme[] {
  const schemes = auth?.['securitySchemes']
  if (!isStruct(schemes)) return []
  return Object.entries(schemes).flatMap(([name, scheme]) => (isStruct(scheme) ? [schemeOf(name, scheme)] : []))
}

function schemeOf(name: string, scheme: Struct): Scheme {
  const [kind = '', about] = Object.entries(scheme)[0] ?? []
  const facts = isStruct(about) ? about : {}
  const description = word(facts['description'])
  switch (kind) {
    case 'httpAuthSecurityScheme':
      return { name, what: `HTTP ${word(facts['scheme']) ?? 'authentication'}`, description, link: undefined }
    case 'apiKeySecurityScheme':
      return {
        name,
        what: `API key, as ${word(facts['location'])} ${word(facts['name'])}`,
        description,
        link: undefined,
      }
    case 'oauth2SecurityScheme':
      return { name, what: 'OAuth 2', description, link: flowLink(facts) }
    case 'openIdConnectSecurityScheme':
      return { name, what: 'OpenID Connect', description, link: linkOf(facts['openIdConnectUrl']) }
    case 'mtlsSecurityScheme':
      return { name, what: 'a client certificate', description, link: undefined }
    default:
      return { name, what: name, description, link: undefined }
  }
}

function flowLink({ flows, oauth2MetadataUrl }: Struct): string | undefined {
  const found = isStruct(flows) ? Object.values(flows).filter(isStruct) : []
  const urls = found.flatMap((flow) => [flow['authorizationUrl'], flow['deviceAuthorizationUrl']])
  return [...urls, oauth2MetadataUrl].map(linkOf).find((one) => one !== undefined)
}

function linksIn(parts: readonly Part[]): readonly string[] {
  return parts.flatMap((part) => ('url' in part ? (linkOf(part.url) ?? []) : []))
}

function linkOf(value: Json | undefined): string | undefined {
  return safeHref(value)
}

function callIn(part: Part): readonly ToolCall[] {
  const { type } = aboutIn(part.metadata, clientToolsExtension)
  if (type !== 'tool-use' || !('data' in part) || !isStruct(part.data)) return []
  const { toolUseId, name, input = {} } = part.data
  if (typeof toolUseId !== 'string') return []
  return [{ toolUseId, name: word(name) ?? 'a tool', input }]
}

export function aboutIn(metadata: Struct | undefined, uri: string): Struct {
  const about = metadata?.[uri]
  return isStruct(about) ? about : {}
}

function word(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
