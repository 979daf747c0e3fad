/**
 * Why an agent cannot take work, with the countdown to the next attempt: "Researcher fails its health check · connect ECONNREFUSED … ·
 * Retrying in 5 s", and buttons to retry now or to stop. Nothing for an agent that is up.
 */
import type { Agent } from '../api/admin.ts'
import { callAdmin } from '../api/admin-client.ts'
import { now } from '../api/resource.ts'
import { announce, showToast } from '../app/announce.ts'
import { useSubmit } from '../components/form/use-submit.ts'
import { FailureNotice } from '../components/status/error-notice.tsx'
import { RelativeTime } from '../components/time.tsx'
import { agentFailure, timeUntil } from './agent-failure.ts'
import { agentPath } from './agent-path.ts'

export interface AgentDownBannerProps {
  readonly agent: Agent
  /** Links to the page of the agent, for other pages. */
  readonly isLinked?: boolean
}

export function AgentDownBanner({ agent, isLinked = false }: AgentDownBannerProps) {
  const failure = agentFailure(agent)
  if (failure === undefined) return null
  const { kind, title, cause, advice } = failure
  return (
    <FailureNotice
      isLive={false}
      label={`State of ${agent.title}`}
      title={title}
      cause={cause}
      advice={advice}
      actions={
        <>
          {agent.retry !== undefined && <RetryButtons agent={agent} />}
          {kind === 'card' && (
            <a class="button small" href={agentPath(agent.name, 'card')}>
              Review card
            </a>
          )}
          {isLinked && kind !== 'card' && (
            <a class="button small" href={agentPath(agent.name)}>
              Open agent
            </a>
          )}
        </>
      }
    >
      {agent.retry !== undefined && <RetryLine retry={agent.retry} />}
    </FailureNotice>
  )
}

type Retry = NonNullable<Agent['retry']>

function RetryLine({ retry: { state, nextTryAt, attempts, since } }: { readonly retry: Retry }) {
  return (
    <p class="trouble-advice">
      <strong role="timer">{retryText(state, nextTryAt)}</strong> ·{' '}
      {attempts === 1 ? '1 failed attempt' : `${attempts.toLocaleString('en-US')} failed attempts`}
      {attempts > 1 && (
        <>
          , first <RelativeTime at={since} />
        </>
      )}
    </p>
  )
}

function retryText(state: Retry['state'], nextTryAt: string | undefined): string {
  if (state === 'stopped') return 'Not retrying'
  const time = nextTryAt === undefined ? undefined : timeUntil(nextTryAt, now.value)
  return time === undefined ? 'Retrying…' : `Retrying in ${time}`
}

/** The change feed reports the result, so the page reloads the agent by itself. */
function RetryButtons({ agent: { name, title, retry } }: { readonly agent: Agent }) {
  const onError = ({ message }: Error): void => showToast(message)
  const params = { agent: name }
  const retrying = useSubmit(async () => {
    const after = await callAdmin('retryAgent', { params })
    if (agentFailure(after) === undefined) showToast(`${title} is available again`)
    else announce(`${title} is still not available`)
  }, onError)
  const stopping = useSubmit(async () => {
    await callAdmin('stopRetryingAgent', { params })
    announce(`Stopped retrying ${title}`)
  }, onError)
  const isRunning = retrying.isBusy || retry?.state === 'running'
  return (
    <>
      {retry?.state !== 'stopped' && (
        <button type="button" class="small" disabled={stopping.isBusy} onClick={() => void stopping.run()}>
          Stop retrying
        </button>
      )}
      <button type="button" class="small" disabled={isRunning} onClick={() => void retrying.run()}>
        {isRunning ? 'Retrying…' : 'Retry now'}
      </button>
    </>
  )
}
