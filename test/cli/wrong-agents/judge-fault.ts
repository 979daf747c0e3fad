/** Runs the judge against an agent with one fault. */
import { runConformance } from '@parley/cli/conformance'
import type { CheckResult, ConformanceOptions, Profile } from '@parley/cli/conformance'
import { startFaultServer } from './fault-server.ts'
import type { Fault } from './fault.ts'

/** What the scripted agent does for which message. */
export const agentProfile: Profile = {
  name: 'scripted agent',
  messages: {
    slow: { text: 'slow' },
    inputRequired: { text: 'ask' },
    authRequired: { text: 'login' },
    message: { text: 'reply' },
    reject: { text: 'reject' },
    fail: { text: 'fail' },
  },
}

/** Only servers that require a token can tell two callers apart. */
const otherCaller = { headers: { authorization: 'Bearer bob-token' } }

/** A short wait: these agents never do what they do not do at once. The limit of a check is a last guard. */
export const judgeOptions: ConformanceOptions = {
  profile: agentProfile,
  patienceMs: 500,
  maxMessages: 2_000,
  checkTimeoutMs: 60_000,
}

export async function judgeFault(
  fault: Omit<Fault, 'check' | 'wrong'>,
  only?: readonly string[],
  options: ConformanceOptions = {},
): Promise<readonly CheckResult[]> {
  await using server = await startFaultServer(fault)
  const scope =
    fault.isBetween === true
      ? {}
      : { versions: [fault.version ?? '1.0'] as const, bindings: [fault.binding ?? 'JSONRPC'] as const }
  const report = await runConformance(server.url, {
    ...judgeOptions,
    ...scope,
    ...options,
    ...(only === undefined ? {} : { only }),
    ...(fault.bearer === undefined ? {} : { bearer: fault.bearer, profile: { ...agentProfile, otherCaller } }),
  })
  return report.results
}
