/** Which agents accept calls without credentials, and where that is refused. */
import { ConfigError } from '@parley/a2a/server'
import type { HubConfig } from '../config/hub-config.ts'
import { accessSettings } from './admit-request.ts'

/** The agents that accept calls without credentials. */
export function anonymousAgents(config: HubConfig): readonly string[] {
  return Object.keys(config.agents).filter(accessSettings(config).isAnonymousAllowed)
}

/** Throws ConfigError if the hub would listen beyond loopback without authentication. */
export function requireAccess(config: HubConfig): void {
  if (config.access !== undefined || anonymousAgents(config).length === 0) return
  throw new ConfigError(
    'listen.host',
    `Refusing to listen on ${config.listen.host} without authentication. Configure \`access\`, or start with --insecure.`,
  )
}
