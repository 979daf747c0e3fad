/** Reads from the status of a waiting task what it needs: a text, a form, a secret, credentials or tool results. */
import {
  type Json,
  type Message,
  type Part,
  type Struct,
  type TaskStatus,
  clientToolsExtension,
  credentialsExtension,
} from '@parley/a2a'
import { safeHref } from '../../components/content/safe-href.ts'
import { isStruct } from '@parley/a2a/internal'
import { formFieldsFromSchema, type FormField } from './schema-form.ts'

const apiKeyText = (location: string | undefined, name: string | undefined) =>
  ['API key', location === undefined ? '' : ` in ${location}`, name === undefined ? '' : ` ${name}`].join('')

export interface AuthScheme {
  readonly name: string
  /** For example “HTTP bearer”. */
  readonly what: string
  readonly description: string | undefined
  /** Where to sign in, or documentation. */
  readonly link: string | undefined
}

export interface ClientToolCall {
  readonly toolUseId: string
  readonly name: string
  readonly input: Json
}

export interface AgentQuestion {
  readonly isAuth: boolean
  readonly isSecret: boolean
  /** The credentials may be sent in the next message. */
  readonly isInBand: boolean
  /** Identifies the request that the answer belongs to. */
  readonly requestId: string | undefined
  readonly fields: readonly FormField[] | undefined
  readonly schemes: readonly AuthScheme[]
  readonly links: readonly string[]
  readonly calls: readonly ClientToolCall[]
}

export function parseQuestion({ state, message }: TaskStatus): AgentQuestion | undefined {
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
    calls: parts.flatMap(toolCallsIn),
  }
}

/** Whether the composer is not enough. */
export function needsForm({ isSecret, fields, calls, isAuth, isInBand }: AgentQuestion): boolean {
  return isSecret || fields !== undefined || calls.length > 0 || (isAuth && isInBand)
}

/** Where agents put a form: in the extension's request, in a data part, or as a part that is itself a form. */
function formIn(request: Struct, parts: readonly Part[]): readonly FormField[] | undefined {
  const data = parts.flatMap((part) => ('data' in part && isStruct(part.data) ? [part.data] : []))
  for (const holder of [request, ...data]) {
    const { requestedSchema, schema, inputSchema, arguments: given } = holder
    const known = isStruct(given) ? given : {}
    const fields = formFieldsFromSchema(
      requestedSchema ?? schema ?? inputSchema ?? (holder === request ? undefined : holder),
      known,
    )
    if (fields !== undefined) return fields
  }
  return undefined
}

function requestIn(message: Message | undefined): Struct {
  const about = extensionMetadata(message?.metadata, clientToolsExtension)
  return isStruct(about['inputRequest']) ? about['inputRequest'] : {}
}

function authRequestIn(part: Part): Struct | undefined {
  const { type } = extensionMetadata(part.metadata, credentialsExtension)
  return type === 'auth-request' && 'data' in part && isStruct(part.data) ? part.data : undefined
}

function schemesIn(auth: Struct | undefined): readonly AuthScheme[] {
  const schemes = auth?.['securitySchemes']
  if (!isStruct(schemes)) return []
  return Object.entries(schemes).flatMap(([name, scheme]) => (isStruct(scheme) ? [schemeOf(name, scheme)] : []))
}

function schemeOf(name: string, scheme: Struct): AuthScheme {
  const [kind = '', about] = Object.entries(scheme)[0] ?? []
  const facts = isStruct(about) ? about : {}
  const description = nonEmptyString(facts['description'])
  switch (kind) {
    case 'httpAuthSecurityScheme':
      return { name, what: `HTTP ${nonEmptyString(facts['scheme']) ?? 'authentication'}`, description, link: undefined }
    case 'apiKeySecurityScheme':
      return {
        name,
        what: apiKeyText(nonEmptyString(facts['location']), nonEmptyString(facts['name'])),
        description,
        link: undefined,
      }
    case 'oauth2SecurityScheme':
      return { name, what: 'OAuth 2', description, link: flowLink(facts) }
    case 'openIdConnectSecurityScheme':
      return { name, what: 'OpenID Connect', description, link: linkOf(facts['openIdConnectUrl']) }
    case 'mtlsSecurityScheme':
      return { name, what: 'Client certificate', description, link: undefined }
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

function toolCallsIn(part: Part): readonly ClientToolCall[] {
  const { type } = extensionMetadata(part.metadata, clientToolsExtension)
  if (type !== 'tool-use' || !('data' in part) || !isStruct(part.data)) return []
  const { toolUseId, name, input = {} } = part.data
  if (typeof toolUseId !== 'string') return []
  return [{ toolUseId, name: nonEmptyString(name) ?? 'a tool', input }]
}

export function extensionMetadata(metadata: Struct | undefined, uri: string): Struct {
  const about = metadata?.[uri]
  return isStruct(about) ? about : {}
}

function nonEmptyString(value: Json | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
