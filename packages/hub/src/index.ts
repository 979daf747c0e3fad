/** The door `@parley/hub`: what agents in files are given beside their turn. Types only; the hub itself is the command `parley`. */
export type { HouseAgent } from './agents/kind.ts'
export type { ModuleFunction } from './agents/module/with-tools.ts'
export type { AgentTools, Delegate, Delegated, DelegateOptions } from './delegation/delegate.ts'
