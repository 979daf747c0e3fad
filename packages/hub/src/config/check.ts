/** From a tree to a configuration, or to all that is wrong with it. */
import { dirname, resolve } from 'node:path'
import { whatIsWrongWithName } from '@parley/a2a/server'
import type { AgentKind } from '../agents/kind.ts'
import { agentFields } from './agent-fields.ts'
import { checkAddresses } from './check-addresses.ts'
import { sections } from './config.ts'
import type { AgentConfig, HubConfig, Sections } from './config.ts'
import type { Path } from './path.ts'
import type { Limits } from './limits.ts'
import { nearest } from './nearest.ts'
import { listed, problemsOf, sentences } from './problem.ts'
import type { Problem } from './problem.ts'

export type Checked = { readonly config: HubConfig } | { readonly problems: readonly Problem[] }

export interface CheckParts {
  readonly kinds: readonly AgentKind[]
  readonly baseDir: string
  readonly dataDir?: string | undefined
  readonly file?: string | undefined
}

export function checkConfig(tree: unknown, { kinds, baseDir, dataDir, file }: CheckParts): Checked {
  const read = sections.safeParse(tree, { error: sentences() })
  const checked = Object.entries(agentsOf(tree)).map(([name, entry]) => ({ name, ...checkEntry(name, entry, kinds) }))
  const agents = Object.fromEntries(checked.flatMap(({ name, agent }) => (agent === undefined ? [] : [[name, agent]])))
  const names = checked.map(({ name }) => name)
  const right = read.success ? read.data : whatIsRight(tree)
  const problems = [
    ...(read.success ? [] : problemsOf(read.error.issues)),
    ...checkNames(right, names, agents),
    ...checkAddresses(right, agents),
    ...checked.flatMap((one) => one.problems),
  ]
  if (!read.success || problems.length > 0) return { problems }
  const config = {
    ...read.data,
    agents: withLimits(agents, read.data.limits.perAgent),
    store: withFile(read.data.store, baseDir),
    baseDir,
    dataDir: resolve(baseDir, dataDir ?? '.parley'),
    ...(file !== undefined ? { file } : {}),
  }
  return { config: freeze(config) }
}

function agentsOf(tree: unknown): Readonly<Record<string, unknown>> {
  const agents = typeof tree === 'object' && tree !== null && 'agents' in tree ? tree.agents : undefined
  return typeof agents === 'object' && agents !== null && !Array.isArray(agents) ? { ...agents } : {}
}

/** The sections that can be read though others cannot, so that all mistakes are told at once. */
function whatIsRight(tree: unknown): Partial<Sections> {
  if (typeof tree !== 'object' || tree === null) return {}
  const read = Object.entries(sections.shape).map(
    ([name, section]) => [name, section.safeParse((tree as Record<string, unknown>)[name])] as const,
  )
  return Object.fromEntries(read.flatMap(([name, { success, data }]) => (success ? [[name, data]] : [])))
}

interface CheckedEntry {
  /** If nothing is wrong with it. */
  readonly agent?: AgentConfig
  readonly problems: readonly Problem[]
}

/** Its kind reads what is not of all agents. */
function checkEntry(name: string, entry: unknown, kinds: readonly AgentKind[]): CheckedEntry {
  const path: Path = ['agents', name]
  const wrong = whatIsWrongWithName(name)
  const misnamed = wrong === undefined ? [] : [{ path, message: wrong }]
  const names = kinds.map(({ kind }) => kind)
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    return { problems: [...misnamed, { path, message: `give settings, such as { kind: ${names[0]} }` }] }
  }
  const { kind: kindName, ...fields } = entry as Record<string, unknown>
  const kind = kinds.find((one) => one.kind === kindName)
  if (kind === undefined) {
    const near = typeof kindName === 'string' ? nearest(kindName, names) : undefined
    const start = kindName === undefined ? 'is missing' : 'there is no such kind'
    const message = near === undefined ? `${start}: say ${listed(names)}` : `${start}: did you mean ${near}?`
    return { problems: [...misnamed, { path: [...path, 'kind'], message }] }
  }
  const isCommon = (key: string): boolean => key in agentFields.shape
  const split = (common: boolean): object =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => isCommon(key) === common))
  const common = agentFields.safeParse(split(true), { error: sentences() })
  const own = kind.schema.safeParse(split(false), { error: sentences(Object.keys(agentFields.shape)) })
  const problems = [
    ...misnamed,
    ...(common.success ? [] : problemsOf(common.error.issues, path)),
    ...(own.success ? [] : problemsOf(own.error.issues, path)),
  ]
  if (!common.success || !own.success || problems.length > 0) return { problems }
  return { agent: { ...common.data, kind: kind.kind, own: own.data }, problems }
}

/** Names of agents and bundles that are used and not there, and sections that need another. */
function checkNames(
  { skillBundles, access, limits, listen, routes }: Partial<Sections>,
  names: readonly string[],
  agents: Readonly<Record<string, AgentConfig>>,
): readonly Problem[] {
  const problems: Problem[] = []
  const expect = (what: string, name: string, among: readonly string[], ...path: Path): void => {
    if (among.includes(name)) return
    const near = nearest(name, among)
    problems.push({
      path,
      message: `there is no ${what} ${name}${near === undefined ? '' : `: did you mean ${near}?`}`,
    })
  }
  if (names.length === 0) problems.push({ path: ['agents'], message: 'name at least one agent' })
  const bundles = Object.keys(skillBundles ?? {})
  for (const [name, { skillBundles: used }] of Object.entries(agents)) {
    used.forEach((bundle, at) => expect('bundle', bundle, bundles, 'agents', name, 'skillBundles', at))
  }
  const guests = access?.anonymous ?? []
  if (guests !== '*') guests.forEach((name, at) => expect('agent', name, names, 'access', 'anonymous', at))
  for (const name of Object.keys(limits?.perAgent ?? {})) expect('agent', name, names, 'limits', 'perAgent', name)
  for (const [at, { from, to, fallback }] of (routes ?? []).entries()) {
    from.forEach((name, index) => expect('agent', name, names, 'routes', at, 'from', ...inList(from, index)))
    to.forEach(({ agent }, index) => expect('agent', agent, names, 'routes', at, 'to', ...inList(to, index)))
    fallback.forEach((name, index) =>
      expect('agent', name, names, 'routes', at, 'fallback', ...inList(fallback, index)),
    )
  }
  if (access?.mtls === true && listen !== undefined && listen.tls?.ca === undefined) {
    problems.push({ path: ['access', 'mtls'], message: 'needs listen.tls.ca: who signs the certificates of clients' })
  }
  return problems
}

/** What was written as one has no place of its own. */
function inList(list: readonly unknown[], index: number): Path {
  return list.length === 1 ? [] : [index]
}

/** What an entry says of its limits wins over what `limits.perAgent` says. */
function withLimits(agents: Record<string, AgentConfig>, perAgent: Limits['perAgent']): Record<string, AgentConfig> {
  const limited = Object.entries(agents).map(([name, agent]) => [
    name,
    { ...agent, limits: { ...perAgent[name], ...agent.limits } },
  ])
  return Object.fromEntries(limited) as Record<string, AgentConfig>
}

function withFile(store: Sections['store'], baseDir: string): Sections['store'] {
  const [, path] = /^sqlite:(?!\/\/)(.+)$/.exec(store.url) ?? []
  return path === undefined ? store : { ...store, url: `sqlite:${resolve(baseDir, path)}` }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(freeze)
  }
  return value
}

/** Relative paths of a file begin where it is. */
export function baseOf(file: string): string {
  return dirname(resolve(file))
}
