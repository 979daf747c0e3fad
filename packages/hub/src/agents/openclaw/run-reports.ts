/** The events and the outcome of a run as reports of its task. */
import { fail, file, status, type AgentLog, type Report, type Turn } from '@parley/a2a'
import { isSameText, type GrowingAnswer } from './growing-answer.ts'
import type { ApprovalPrompter } from './approval-prompter.ts'
import type { RunOutcome } from './run-outcome.ts'
import { answerArtifactId, type RunPlan } from './run-plan.ts'
import type { RunEvent, RunEventQueue } from './run-events.ts'
import { textOfParts } from '../part-reader.ts'

export async function* reportEvent(
  runEvent: RunEvent,
  answer: GrowingAnswer,
  approvalPrompter: ApprovalPrompter,
): AsyncGenerator<Report, void, void> {
  if ('text' in runEvent) {
    const report = answer.update(runEvent.text, runEvent.warning)
    if (report !== undefined) yield report
  } else if ('adopted' in runEvent) {
    answer.restart()
    yield status('The OpenClaw gateway was restarted and has resumed the task')
  } else if ('report' in runEvent) yield runEvent.report
  else yield* approvalPrompter.handle(runEvent)
}

export async function* reportOutcome(
  { log, plan }: { readonly log: AgentLog; readonly plan: RunPlan },
  outcome: RunOutcome,
  answer: GrowingAnswer,
  events: RunEventQueue,
): AsyncGenerator<Report, void, void> {
  if (outcome.kind === 'late') return yield fail('The agent did not finish in time')
  if (outcome.kind === 'stopped' || outcome.kind === 'interrupted') {
    return yield { state: 'TASK_STATE_CANCELED', message: 'The run was stopped at the OpenClaw gateway' }
  }
  if (outcome.kind === 'failed') {
    log.warn('a run failed at the OpenClaw gateway', { runId: plan.key, cause: outcome.cause })
    return yield fail(outcome.said, { cause: outcome.cause })
  }
  const whole = finalAnswerText(outcome.text, answer, events)
  if (!isSameText(whole, answer.text())) {
    const report = answer.update(whole)
    if (report !== undefined) yield report
  }
  const last = answer.close()
  if (last !== undefined) yield last
  for (const url of outcome.media.filter(isShown)) yield file(url)
  if (outcome.usage !== undefined) yield { state: 'TASK_STATE_COMPLETED', metadata: { usage: outcome.usage } }
}

/** The end may contain the whole text or only the last item. */
function finalAnswerText(final: string, answer: GrowingAnswer, events: RunEventQueue): string {
  const said = answer.text()
  if (final.trim() === '' || said.trim().endsWith(final.trim())) return said
  return final.startsWith(said) ? final : events.finalText(final)
}

/** Files of the gateway's machine are not shown to callers. */
function isShown(url: string): boolean {
  return /^https:\/\//i.test(url)
}

export function loggedAnswer({ resumed }: Turn, { turn }: RunPlan): string | undefined {
  const artifact = resumed?.task.artifacts?.find(({ artifactId }) => artifactId === answerArtifactId(turn))
  return artifact === undefined ? undefined : textOfParts(artifact.parts, '')
}
