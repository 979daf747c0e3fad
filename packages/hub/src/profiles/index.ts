/**
 * Endpoints for clients that do not follow the A2A specification, each enabled in the configuration. They are applications of the
 * SDK: everything else that they need of the hub is in `ProfileDeps`.
 */
import { legacyV03Draft, type HandlerOptions } from '@parley/a2a/server'
import type { Middleware } from '@parley/a2a/node'
import { createChatEndpoint, type ChatEndpointDeps } from './chat.ts'
import { createSimpleTasksEndpoint, type SimpleTasksEndpointDeps } from './simple-tasks.ts'

export interface ProfileSettings {
  readonly simpleTasks: boolean
  readonly botChat: boolean
  readonly olderDraft: boolean
}

export interface ProfileDeps extends ChatEndpointDeps, SimpleTasksEndpointDeps {}

/** The enabled profiles. */
export interface Profiles {
  readonly simpleTasks: Middleware | undefined
  readonly chat: Middleware | undefined
  readonly endpointVariants: Pick<HandlerOptions, 'endpointVariants'>
}

export function createProfiles({ simpleTasks, botChat, olderDraft }: ProfileSettings, deps: ProfileDeps): Profiles {
  return {
    simpleTasks: simpleTasks ? createSimpleTasksEndpoint(deps) : undefined,
    chat: botChat ? createChatEndpoint(deps) : undefined,
    endpointVariants: olderDraft ? { endpointVariants: legacyV03Draft } : {},
  }
}
