/** The entry point `@parley/hub`: types for agents written as files. Types only; the hub itself is the command `parley`. */
export type { CallableAgent } from './agents/kind.ts'
export type { ModuleFunction } from './agents/module/with-tools.ts'
export type { SecretProvider } from './config/secrets/secret-provider.ts'
export type { AgentTools, Delegate, DelegateResult, DelegateOptions } from './delegation/delegate.ts'
