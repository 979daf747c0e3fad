/** The agent card in its 1.0 shape. */
import type { Struct } from './task.ts'

export interface AgentInterface {
  readonly url: string
  /** `JSONRPC`, `HTTP+JSON`, `GRPC`, or the URI of a custom binding. */
  readonly protocolBinding: string
  readonly tenant?: string
  /** `Major.Minor`. */
  readonly protocolVersion: string
}
export interface AgentProvider {
  readonly url: string
  readonly organization: string
}
export interface AgentExtension {
  readonly uri: string
  readonly description?: string
  readonly required?: boolean
  readonly params?: Struct
}
export interface AgentCapabilities {
  readonly streaming?: boolean
  readonly pushNotifications?: boolean
  readonly extensions?: readonly AgentExtension[]
  readonly extendedAgentCard?: boolean
  /** Only in 0.x: 1.0 has no such field, and its cards omit it. */
  readonly stateTransitionHistory?: boolean
}
export interface SecurityRequirement {
  readonly schemes: { readonly [name: string]: { readonly list: readonly string[] } }
}
export interface AgentSkill {
  readonly id: string
  readonly name: string
  readonly description: string
  readonly tags: readonly string[]
  readonly examples?: readonly string[]
  readonly inputModes?: readonly string[]
  readonly outputModes?: readonly string[]
  readonly securityRequirements?: readonly SecurityRequirement[]
}
export interface AgentCardSignature {
  readonly protected: string
  readonly signature: string
  readonly header?: Struct
}

export interface OAuthScopes {
  readonly [scope: string]: string
}
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
/** Distinguished by the name of the member, not by a `type` (§1.5 of 1.0). */
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

export interface AgentCard {
  readonly name: string
  readonly description: string
  /** In order of preference. */
  readonly supportedInterfaces: readonly AgentInterface[]
  readonly provider?: AgentProvider
  readonly version: string
  readonly documentationUrl?: string
  readonly capabilities: AgentCapabilities
  readonly securitySchemes?: { readonly [name: string]: SecurityScheme }
  readonly securityRequirements?: readonly SecurityRequirement[]
  readonly defaultInputModes: readonly string[]
  readonly defaultOutputModes: readonly string[]
  readonly skills: readonly AgentSkill[]
  readonly signatures?: readonly AgentCardSignature[]
  readonly iconUrl?: string
}
