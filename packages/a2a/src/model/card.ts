/** The agent card in its 1.0 shape. */
import type { Struct } from './task.ts'

/** One address of an agent, over one binding in one protocol version. */
export interface AgentInterface {
  readonly url: string
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of a custom binding. */
  readonly protocolBinding: string
  readonly tenant?: string
  /** `Major.Minor`. */
  readonly protocolVersion: string
}
/** The organization that provides an agent. */
export interface AgentProvider {
  readonly url: string
  readonly organization: string
}
/** A protocol extension that an agent supports. If `required`, clients must activate it. */
export interface AgentExtension {
  readonly uri: string
  readonly description?: string
  readonly required?: boolean
  readonly params?: Struct
}
/** The optional features of the protocol that an agent supports. An omitted flag means no. */
export interface AgentCapabilities {
  readonly streaming?: boolean
  readonly pushNotifications?: boolean
  readonly extensions?: readonly AgentExtension[]
  readonly extendedAgentCard?: boolean
  /** Only in 0.x: 1.0 has no such field, and its cards omit it. */
  readonly stateTransitionHistory?: boolean
}
/**
 * Security schemes that a request must satisfy together, each with the scopes it needs. Several requirements are alternatives.
 */
export interface SecurityRequirement {
  readonly schemes: { readonly [name: string]: { readonly list: readonly string[] } }
}
/** One thing that an agent can do, for people and programs that choose an agent. */
export interface AgentSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[]
  /** Media types; default: `defaultInputModes` of the card. */
  readonly inputModes?: readonly string[]
  /** Media types; default: `defaultOutputModes` of the card. */
  readonly outputModes?: readonly string[]
  readonly securityRequirements?: readonly SecurityRequirement[]
}
/** A signature of an agent card: a JWS (RFC 7515) over the canonical JSON of the card (RFC 8785). */
export interface AgentCardSignature {
  /** The protected header, in base64url. */
  readonly protected: string
  readonly signature: string
  /** The unprotected header. */
  readonly header?: Struct
}

/** The scopes of an OAuth 2 flow, each with its description. */
export interface OAuthScopes {
  readonly [scope: string]: string
}
/** The OAuth 2 flows that a security scheme offers, with their endpoints. */
export interface OAuthFlows {
  readonly authorizationCode?: {
    readonly authorizationUrl: string
    readonly tokenUrl: string
    readonly refreshUrl?: string
    readonly scopes: OAuthScopes
    readonly pkceRequired?: boolean
  }
  readonly clientCredentials?: { readonly tokenUrl: string; readonly refreshUrl?: string; readonly scopes: OAuthScopes }
  readonly deviceCode?: {
    readonly deviceAuthorizationUrl: string
    readonly tokenUrl: string
    readonly refreshUrl?: string
    readonly scopes: OAuthScopes
  }
  readonly implicit?: { readonly authorizationUrl: string; readonly refreshUrl?: string; readonly scopes: OAuthScopes }
  readonly password?: { readonly tokenUrl: string; readonly refreshUrl?: string; readonly scopes: OAuthScopes }
}
/**
 * A way to authenticate: API key, HTTP, OAuth 2, OpenID Connect or mutual TLS. Distinguished by the name of the member, not by a
 * `type` (§1.5 of 1.0).
 */
export type SecurityScheme =
  | {
      readonly apiKeySecurityScheme: {
        readonly description?: string
        readonly location: 'query' | 'header' | 'cookie'
        readonly name: string
      }
    }
  | {
      readonly httpAuthSecurityScheme: {
        readonly description?: string
        readonly scheme: string
        readonly bearerFormat?: string
      }
    }
  | {
      readonly oauth2SecurityScheme: {
        readonly description?: string
        readonly flows: OAuthFlows
        readonly oauth2MetadataUrl?: string
      }
    }
  | { readonly openIdConnectSecurityScheme: { readonly description?: string; readonly openIdConnectUrl: string } }
  | { readonly mtlsSecurityScheme: { readonly description?: string } }

/** The agent card in the shape of 1.0: who the agent is, what it can do, where it is and how to authenticate. */
export interface AgentCard {
  readonly name: string
  readonly description: string
  /** In order of preference. */
  readonly supportedInterfaces: readonly AgentInterface[]
  readonly provider?: AgentProvider
  /** The version of the agent, not of the protocol. */
  readonly version: string
  readonly documentationUrl?: string
  readonly capabilities: AgentCapabilities
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
  /** Media types that every skill accepts unless it lists its own. */
  readonly defaultInputModes: readonly string[]
  readonly defaultOutputModes: readonly string[]
  readonly skills: readonly AgentSkill[]
  readonly signatures?: readonly AgentCardSignature[]
  readonly iconUrl?: string
}

/** The optional texts by which an agent describes itself: `optional string` in the proto. */
const cardTextFields = ['documentationUrl', 'iconUrl'] as const satisfies readonly (keyof AgentCard)[]
type CardTextField = (typeof cardTextFields)[number]

/** What an agent, its operator or its module may say on the card, under the same name everywhere. */
export type CardInfo = Pick<AgentCard, 'provider' | CardTextField>

/** Returns the fields of `CardInfo` that are set. */
export function cardInfo(from: { readonly [K in keyof CardInfo]?: CardInfo[K] | undefined }): CardInfo {
  const names = ['provider', ...cardTextFields] as const
  return Object.fromEntries(names.filter((name) => from[name] !== undefined).map((name) => [name, from[name]]))
}

/** Returns a table that holds the same value, such as the reader of a text, for each text of the card. */
export function forCardTexts<V>(value: V): Readonly<Record<CardTextField, V>> {
  return Object.fromEntries(cardTextFields.map((name) => [name, value])) as Record<CardTextField, V>
}
