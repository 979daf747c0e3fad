/** Turns a parsed tree into a configuration, or into the list of all its problems. */
import { isStruct, validateAgentName } from '@parley/a2a/internal'
import { dirname, resolve } from 'node:path'
import type { AgentKind } from '../agents/kind.ts'
import { agentFields } from './sections/agent-fields.ts'
import { sectionsSchema, type AgentConfig, type HubConfig, type ConfigSections } from './hub-config.ts'
import { type ConfigPath, joinWithOr, toProblems, configErrorMap, type ConfigProblem } from './config-problem.ts'
import type { LimitsConfig } from './sections/limits.ts'
import { nearestName } from '@parley/a2a/command-line'
import { checkAddresses } from './check-addresses.ts'

export type ConfigCheckResult = { readonly config: HubConfig } | { readonly problems: readonly ConfigProblem[] }

/** Beside the configuration. */
export const defaultDataDir = '.parley'

export interface CheckConfigOptions {
  readonly kinds: readonly AgentKind[]
  readonly baseDir: string
  readonly dataDir?: string | undefined
  readonly file?: string | undefined
}

export function checkConfig(tree: unknown, { kinds, baseDir, dataDir, file }: CheckConfigOptions): ConfigCheckResult {
  const read = sectionsSchema.safeParse(tree, { error: configErrorMap() })
  const checked = Object.entries(agentsOf(tree)).map(([name, entry]) => ({ name, ...checkEntry(name, entry, kinds) }))
  const agents = Object.fromEntries(checked.flatMap(({ name, agent }) => (agent === undefined ? [] : [[name, agent]])))
  const names = checked.map(({ name }) => name)
  const valid = read.success ? read.data : validSections(tree)
  const problems = withMissing(tree, [
    ...(read.success ? [] : toProblems(read.error.issues)),
    ...checkNames(valid, names, agents),
    ...checkAddresses(valid, agents),
    ...checked.flatMap((one) => one.problems),
  ])
  if (!read.success || problems.length > 0) return { problems }
  const config = {
    ...read.data,
    agents: mergeAgentLimits(agents, read.data.limits.perAgent),
    store: resolveStorePath(read.data.store, baseDir),
    baseDir,
    dataDir: resolve(baseDir, dataDir ?? defaultDataDir),
    ...(file !== undefined ? { file } : {}),
  }
  return { config: deepFreeze(config) }
}

/** A schema with its own message does not say that the value is missing. */
function withMissing(tree: unknown, problems: readonly ConfigProblem[]): readonly ConfigProblem[] {
  const isMissing = (path: ConfigProblem['path']): boolean =>
    path.reduce<unknown>(
      (value, step) => (value as Record<string | number, unknown> | undefined | null)?.[step],
      tree,
    ) === undefined
  return problems.map((problem) =>
    problem.message.startsWith('must ') && isMissing(problem.path)
      ? { ...problem, message: `is missing: ${problem.message}` }
      : problem,
  )
}

function agentsOf(tree: unknown): Readonly<Record<string, unknown>> {
  const agents = isStruct(tree) ? tree['agents'] : undefined
  return isStruct(agents) ? agents : {}
}

/** Returns the sections that are valid although others are not, so that all problems are reported at once. */
export function validSections(tree: unknown): Partial<ConfigSections> {
  if (typeof tree !== 'object' || tree === null) return {}
  const read = Object.entries(sectionsSchema.shape).map(
    ([name, section]) => [name, section.safeParse((tree as Record<string, unknown>)[name])] as const,
  )
  return Object.fromEntries(read.flatMap(([name, { success, data }]) => (success ? [[name, data]] : [])))
}

interface EntryCheckResult {
  /** Set if the entry is valid. */
  readonly agent?: AgentConfig
  readonly problems: readonly ConfigProblem[]
}

/** The agent kind validates the fields that are not common to all agents. */
function checkEntry(name: string, entry: unknown, kinds: readonly AgentKind[]): EntryCheckResult {
  const path: ConfigPath = ['agents', name]
  const problem = validateAgentName(name)
  const nameProblems = problem === undefined ? [] : [{ path, message: problem }]
  const names = kinds.map(({ kind }) => kind)
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    return { problems: [...nameProblems, { path, message: `must be a mapping such as { kind: ${names[0]} }` }] }
  }
  const { kind: kindName, ...fields } = entry as Record<string, unknown>
  const kind = kinds.find((one) => one.kind === kindName)
  if (kind === undefined) {
    const suggestion = typeof kindName === 'string' ? nearestName(kindName, names) : undefined
    const start = kindName === undefined ? 'is missing' : 'unknown kind'
    const message =
      suggestion === undefined ? `${start}: use ${joinWithOr(names)}` : `${start}: did you mean ${suggestion}?`
    return { problems: [...nameProblems, { path: [...path, 'kind'], message }] }
  }
  const isCommon = (key: string): boolean => key in agentFields.shape
  const split = (common: boolean): object =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => isCommon(key) === common))
  const common = agentFields.safeParse(split(true), { error: configErrorMap() })
  const own = kind.schema.safeParse(split(false), { error: configErrorMap(Object.keys(agentFields.shape)) })
  const problems = [
    ...nameProblems,
    ...(common.success ? [] : toProblems(common.error.issues, path)),
    ...(own.success ? [] : toProblems(own.error.issues, path)),
  ]
  if (!common.success || !own.success || problems.length > 0) return { problems }
  return { agent: { ...common.data, kind: kind.kind, own: own.data }, problems }
}

/** Reports references to agents and bundles that do not exist, and sections that require another section. */
function checkNames(
  { skillBundles, access, limits, listen, routes }: Partial<ConfigSections>,
  names: readonly string[],
  agents: Readonly<Record<string, AgentConfig>>,
): readonly ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const requireKnown = (what: string, name: string, among: readonly string[], ...path: ConfigPath): void => {
    if (among.includes(name)) return
    const suggestion = nearestName(name, among)
    problems.push({
      path,
      message: `unknown ${what} ${name}${suggestion === undefined ? '' : `: did you mean ${suggestion}?`}`,
    })
  }
  if (names.length === 0) problems.push({ path: ['agents'], message: 'must contain at least one agent' })
  const bundles = Object.keys(skillBundles ?? {})
  for (const [name, { skillBundles: used }] of Object.entries(agents)) {
    used.forEach((bundle, at) => requireKnown('bundle', bundle, bundles, 'agents', name, 'skillBundles', at))
  }
  const anonymous = access?.anonymous ?? []
  if (anonymous !== '*') anonymous.forEach((name, at) => requireKnown('agent', name, names, 'access', 'anonymous', at))
  for (const name of Object.keys(limits?.perAgent ?? {})) requireKnown('agent', name, names, 'limits', 'perAgent', name)
  for (const [at, { from, to, fallback }] of (routes ?? []).entries()) {
    from.forEach((name, index) => requireKnown('agent', name, names, 'routes', at, 'from', ...indexInList(from, index)))
    to.forEach(({ agent }, index) => requireKnown('agent', agent, names, 'routes', at, 'to', ...indexInList(to, index)))
    fallback.forEach((name, index) =>
      requireKnown('agent', name, names, 'routes', at, 'fallback', ...indexInList(fallback, index)),
    )
  }
  if (access?.mtls === true && listen !== undefined && listen.tls?.ca === undefined) {
    problems.push({ path: ['access', 'mtls'], message: 'requires listen.tls.ca, the authority of client certificates' })
  }
  return problems
}

/** A single value written without a list has no index of its own. */
function indexInList(list: readonly unknown[], index: number): ConfigPath {
  return list.length === 1 ? [] : [index]
}

/** The limits of an entry override `limits.perAgent`. */
function mergeAgentLimits(
  agents: Record<string, AgentConfig>,
  perAgent: LimitsConfig['perAgent'],
): Record<string, AgentConfig> {
  const limited = Object.entries(agents).map(([name, agent]) => [
    name,
    { ...agent, limits: { ...perAgent[name], ...agent.limits } },
  ])
  return Object.fromEntries(limited) as Record<string, AgentConfig>
}

/** The section `store` alone, for commands that need nothing else of the configuration. Throws if it is invalid. */
export function checkStoreSection(
  section: unknown,
  baseDir: string,
): {
  readonly url: string
  readonly direct?: string | undefined
  readonly masterKey?: string | undefined
  readonly previousMasterKeys?: readonly string[] | undefined
} {
  return resolveStorePath(sectionsSchema.shape.store.parse(section), baseDir)
}

function resolveStorePath(store: ConfigSections['store'], baseDir: string): ConfigSections['store'] {
  const [, path] = /^sqlite:(?!\/\/)(.+)$/.exec(store.url) ?? []
  return path === undefined ? store : { ...store, url: `sqlite:${resolve(baseDir, path)}` }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    Object.values(value).forEach(deepFreeze)
  }
  return value
}

/** Relative paths in a file are resolved against its directory. */
export function configBaseDir(file: string): string {
  return dirname(resolve(file))
}
