/**
 * Resolves the tenant of a call (B-165…B-167). A tenant is a partition: tasks of one tenant are invisible to another. The path, the
 * payload or the caller names it, and it must always be one that the caller may use; any other is reported as not found.
 */
import { findParameter } from '../../bindings/http.ts'
import type { Caller } from '../../model/caller.ts'
import { A2AError, invalidParams } from '../../model/error.ts'
import { ConfigError } from '../config-error.ts'

/** Which tenants a server has. A tenant is a partition: tasks of one are invisible to another. */
export interface TenantOptions {
  /** The tenants that the card lists, each with interfaces of its own. */
  readonly declared: readonly string[]
  /** The tenants that a caller may use. Default: its `tenants`, else its own `tenant`, else all declared ones. */
  allowedTenants?(caller: Caller): readonly string[]
}

export interface Tenants {
  /** Empty if no tenants are configured. */
  readonly declared: readonly string[]
  /** Whether paths may begin with a tenant. */
  readonly inPaths: boolean
  /** Returns the tenant of the call. Throws the error for an unknown tenant. */
  resolve(asked: string | undefined, caller: Caller): string
}

/** Path segments in the position of a tenant that have another meaning (B-167). */
const reservedTenantNames: ReadonlySet<string> = new Set([
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
  if (options === undefined) return { declared: [], inPaths: false, resolve: requireOwnTenant }
  const { declared } = options
  const names = new Set(agents)
  declared.forEach((tenant, index) => checkName(tenant, `tenants.declared[${index}]`, names))
  const known = new Set(declared)
  return {
    declared,
    inPaths: true,
    resolve(asked, caller) {
      if (asked === undefined || asked === '' || asked === caller.tenant) return caller.tenant ?? ''
      const own = options.allowedTenants === undefined ? tenantsOfCaller(caller) : options.allowedTenants(caller)
      if (own === undefined ? known.has(asked) : own.includes(asked)) return asked
      throw new A2AError('TASK_NOT_FOUND', 'Unknown tenant')
    },
  }
}

function tenantsOfCaller({ tenant, tenants }: Caller): readonly string[] | undefined {
  return tenants ?? (tenant === undefined ? undefined : [tenant])
}

function requireOwnTenant(asked: string | undefined, { tenant = '' }: Caller): string {
  if (asked === undefined || asked === '' || asked === tenant) return tenant
  throw invalidParams([{ field: 'tenant', description: 'names a tenant, but this agent declares none' }])
}

function checkName(tenant: string, where: string, agents: ReadonlySet<string>): void {
  if (!/^\P{Cc}{1,256}$/u.test(tenant)) throw new ConfigError(where, 'must have 1 to 256 characters')
  if (reservedTenantNames.has(tenant)) throw new ConfigError(where, 'is reserved: choose another name')
  if (agents.has(tenant)) throw new ConfigError(where, 'is the name of an agent: choose another name')
}

/** A path and a payload that name different tenants are an error of the caller (B-166). */
export function checkPathTenant(tenant: unknown, body: unknown, query: string): void {
  const named = [
    typeof body === 'object' && body !== null && 'tenant' in body ? body.tenant : undefined,
    findParameter(query, 'tenant'),
  ]
  if (named.every((other) => other === undefined || other === null || other === '' || other === tenant)) return
  throw invalidParams([{ field: 'tenant', description: 'differs from the tenant in the path' }])
}
