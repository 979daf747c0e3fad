/**
 * Which tenant a call is for (B-165…B-167). A tenant is a partition of its own: what one opened, another does not find.
 * It is named by the path, by the payload or by who calls, and in every way has to be one that the caller may use; one
 * that it may not use is not there.
 */
import { findParameter } from '../bindings/query.ts'
import type { Caller } from '../model/caller.ts'
import { A2AError, invalidParams } from '../model/error.ts'
import { ConfigError } from './config-error.ts'

export interface TenantOptions {
  /** Those that the card lists, each as interfaces of its own. */
  readonly declared: readonly string[]
  /** Which ones a caller may use. Default: its `tenants`, or else its own `tenant`, or else all that are declared. */
  of?(caller: Caller): readonly string[]
}

export interface Tenants {
  /** Empty where there are none. */
  readonly declared: readonly string[]
  /** Whether paths may begin with a tenant. */
  readonly inPaths: boolean
  /** The one that is meant. Throws what a tenant that does not exist gets. */
  resolve(asked: string | undefined, caller: Caller): string
}

/** What stands at the place of a tenant in a path and means something else (B-167). */
const reserved: ReadonlySet<string> = new Set([
  'message:send',
  'message:stream',
  'tasks',
  'extendedAgentCard',
  'v1',
  '.well-known',
  'a2a',
  'api',
  'agent',
  'agents',
  'agent-card',
  'admin',
  'mcp',
  'healthz',
  'readyz',
  'metrics',
])

export function createTenants(options: TenantOptions | undefined, agents: Iterable<string>): Tenants {
  if (options === undefined) return { declared: [], inPaths: false, resolve: refuseOthers }
  const { declared } = options
  const names = new Set(agents)
  declared.forEach((tenant, index) => checkName(tenant, `tenants.declared[${index}]`, names))
  const known = new Set(declared)
  return {
    declared,
    inPaths: true,
    resolve(asked, caller) {
      if (asked === undefined || asked === '' || asked === caller.tenant) return caller.tenant ?? ''
      const own = options.of === undefined ? ownOf(caller) : options.of(caller)
      if (own === undefined ? known.has(asked) : own.includes(asked)) return asked
      throw new A2AError('TASK_NOT_FOUND', 'There is no such tenant')
    },
  }
}

function ownOf({ tenant, tenants }: Caller): readonly string[] | undefined {
  return tenants ?? (tenant === undefined ? undefined : [tenant])
}

function refuseOthers(asked: string | undefined, { tenant = '' }: Caller): string {
  if (asked === undefined || asked === '' || asked === tenant) return tenant
  throw invalidParams([{ field: 'tenant', description: 'names a tenant, and this agent declares none' }])
}

function checkName(tenant: string, where: string, agents: ReadonlySet<string>): void {
  if (!/^\P{Cc}{1,256}$/u.test(tenant)) throw new ConfigError(where, 'give a name of 1 to 256 characters')
  if (reserved.has(tenant)) throw new ConfigError(where, 'this name is reserved, choose another')
  if (agents.has(tenant)) throw new ConfigError(where, 'this is the name of an agent, choose another')
}

/** A path that names one tenant around a payload that names another is a mistake of the caller's (B-166). */
export function checkPathTenant(tenant: unknown, body: unknown, query: string): void {
  const named = [
    typeof body === 'object' && body !== null && 'tenant' in body ? body.tenant : undefined,
    findParameter(query, 'tenant'),
  ]
  if (named.every((other) => other === undefined || other === null || other === '' || other === tenant)) return
  throw invalidParams([{ field: 'tenant', description: 'is another one than that of the path' }])
}
