/** The delivery attempts of a webhook as a table, newest first. */
import type { AdminResponse } from '../../api/admin-client.ts'
import { RelativeTime, ClockTime } from '../../components/time.tsx'
import { formatDuration } from '../../components/format.ts'
import { DeliveryOutcome } from './webhook-row.tsx'
import { isDelivered } from './webhook-status.ts'

export const maxAttempts = 500

export function DeliveryAttempts({
  push,
  most,
  onMore,
}: {
  readonly push: AdminResponse<'getPush'>
  readonly most: number
  readonly onMore: () => void
}) {
  const { attempts, taskId } = push
  if (attempts.length === 0) return <p class="webhook-note">Nothing was sent yet.</p>
  return (
    <section class="stack-small webhook-attempts" aria-labelledby="webhook-attempts">
      <h3 class="faint" id="webhook-attempts">
        Attempts
      </h3>
      <table class="data">
        <thead>
          <tr>
            <th>Time</th>
            <th>Response</th>
            <th class="number">Duration</th>
            <th class="number">Event</th>
            <th class="number">Attempt</th>
          </tr>
        </thead>
        <tbody>
          {attempts.map(({ at, outcome, answer, durationMs, seq, attempt }) => (
            <tr key={`${at} ${seq}`}>
              <td>
                <ClockTime at={at} />{' '}
                <span class="faint webhook-ago">
                  <RelativeTime at={at} />
                </span>
              </td>
              <td>
                <span aria-hidden="true">{isDelivered(outcome) ? '● ' : '✕ '}</span>
                <DeliveryOutcome outcome={outcome} />
                {answer !== undefined && <q class="webhook-said">{answer}</q>}
              </td>
              <td class="number">{formatDuration(durationMs)}</td>
              <td class="number">
                <a href={`/tasks/${encodeURIComponent(taskId)}/events?event=${seq}`}>{seq}</a>
              </td>
              <td class="number">{attempt}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {attempts.length >= most && most < maxAttempts && (
        <button type="button" class="small" onClick={onMore}>
          Show older attempts
        </button>
      )}
    </section>
  )
}
