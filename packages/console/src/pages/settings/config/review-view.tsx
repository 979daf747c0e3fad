/** The review of a change: the diff and its effects, before it is applied. */
import { omitUndefined } from '@parley/a2a/internal'
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { EmptyState, ErrorNotice, LoadState } from '../../../components/status/error-notice.tsx'
import { ConfigConflict } from './conflict.tsx'
import type { ConfigResource } from './config-draft.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { baseConfig, resetDraft, isDraftEdited, draftText, conflictingConfig } from './config-draft.ts'
import { effectsSummary } from '../../../components/config-effects/effects.ts'
import { EffectsList } from '../../../components/config-effects/effects-list.tsx'
import { setLastApplied } from './last-applied.tsx'

const back = '/settings/config'

export function ReviewView({ config }: { readonly config: ConfigResource }) {
  const compared = useResource(
    `diff ${baseConfig.value?.hash} ${conflictingConfig.value?.hash}`,
    (signal) => callAdmin('diffConfig', { body: { text: draftText.value }, signal }),
    ({ type }) => type === 'config',
  )
  const note = useSignal('')
  useShortcuts([{ key: 'Escape', label: 'Back to editor', run: () => navigate(back) }])
  const { isBusy, problem, onSubmit } = useSubmit(async () => {
    const written = note.value.trim()
    const { hash } = baseConfig.value ?? {}
    const body = { text: draftText.value, ...omitUndefined({ note: written || undefined, base: hash }) }
    try {
      const { effects } = await callAdmin('applyConfig', { body })
      resetDraft(await callAdmin('getConfig'))
      setLastApplied(effects)
      showToast(`Applied. ${effectsSummary(effects)}`)
      navigate(back)
    } catch (reason) {
      if (!isProblem(reason, 'CONFLICT')) throw reason
      // Loads and shows the other user's change.
      config.reload()
    }
  })

  if (!isDraftEdited.value) {
    return (
      <EmptyState title="Nothing to review">
        <a class="button" href={back}>
          Edit configuration
        </a>
      </EmptyState>
    )
  }
  const found = compared.value.value
  return (
    <div class="scroll stack-wide config-review">
      <div class="config-review-head">
        <h2>Review changes</h2>
        <a class="button" href={back}>
          Back to editor
        </a>
      </div>
      {conflictingConfig.value !== undefined && <ConfigConflict />}
      <LoadState of={compared} what="the comparison" />
      {problem !== undefined && <ErrorNotice reason={problem} />}
      {found !== undefined && (
        <>
          <section aria-labelledby="config-effects">
            <h3 id="config-effects">Effects</h3>
            <EffectsList effects={found.effects} />
          </section>
          <LineDiffView diff={found.diff} label="Changed lines" before="Current" after="Proposed" />
          <form class="config-apply" onSubmit={onSubmit}>
            <div class="field grow">
              <label for="config-note">Note (optional), shown in the list of versions</label>
              <input
                id="config-note"
                type="text"
                maxLength={500}
                placeholder="Reason for the change"
                value={note.value}
                onInput={(event) => (note.value = event.currentTarget.value)}
              />
            </div>
            <button type="submit" class="primary" disabled={isBusy || conflictingConfig.value !== undefined}>
              Apply
            </button>
          </form>
        </>
      )}
    </div>
  )
}
