/** That the hub does not run the configuration file as it is, and why. Nothing while it does. */
import { useHealth } from '../../api/agents.ts'
import { useVisibleInterval } from '../../api/use-visible-interval.ts'
import { FailureNotice } from '../status/error-notice.tsx'
import { ClockTime } from '../time.tsx'

/** The change feed has no event for a file that was not applied. */
const reloadMs = 5_000

export function ConfigRejectionNotice({ isLinked = false }: { readonly isLinked?: boolean }) {
  const health = useHealth(({ type }) => type === 'config')
  useVisibleInterval(reloadMs, health.reload)
  const rejection = health.value.value?.configRejection
  if (rejection === undefined) return null
  return (
    <FailureNotice
      isLive={false}
      label="The configuration file is not applied"
      title={
        <>
          The configuration file is not applied since <ClockTime at={rejection.since} />
        </>
      }
      cause={rejection.problem}
      advice="The hub continues with its previous configuration. Correct the file, and the hub applies it at once. Variables of ${env:…} are those that the hub was started with."
      actions={
        isLinked && (
          <a class="button small" href="/settings/config">
            Open configuration
          </a>
        )
      }
    />
  )
}
