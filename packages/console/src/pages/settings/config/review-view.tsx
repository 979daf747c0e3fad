/** The review of a change: the diff and its effects, before it is applied. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { isProblem, toProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate } from '../../../app/router.ts'
import { EmptyState, Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { ConfigConflict } from './conflict.tsx'
import type { ConfigResource } from './config-resource.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { baseConfig, resetDraft, isDraftEdited, draftText, conflictingConfig } from './config-draft.ts'
import { effectsSummary } from './effects.ts'
import { EffectsList } from './effects-list.tsx'
import { setLastApplied } from './last-applied.tsx'

const back = '/settings/config'

export function ReviewView({ config }: { readonly config: ConfigResource }) {
  const compared = useResource(
    `diff ${baseConfig.value?.hash} ${conflictingConfig.value?.hash}`,
    (signal) => callAdmin('diffConfig', { body: { text: draftText.value }, signal }),
    ({ type }) => type === 'config',
  )
  const note = useSignal('')
  const isBusy = useSignal(false)
  const refused = useSignal<unknown>(undefined)
  useShortcuts([{ key: 'Escape', label: 'Back to the text', run: () => navigate(back) }])

  async function apply(): Promise<void> {
    isBusy.value = true
    refused.value = undefined
    try {
      const said = note.value.trim()
      const { hash } = baseConfig.value ?? {}
      const { effects } = await callAdmin('applyConfig', {
        body: {
          text: draftText.value,
          ...(said === '' ? {} : { note: said }),
          ...(hash === undefined ? {} : { base: hash }),
        },
      })
      resetDraft(await callAdmin('getConfig'))
      setLastApplied(effects)
      showToast(`Applied. ${effectsSummary(effects)}`)
      navigate(back)
    } catch (reason) {
      // On a conflict, load and show the other user's change.
      if (isProblem(reason, 'CONFLICT')) config.reload()
      else refused.value = toProblem(reason)
    }
    isBusy.value = false
  }

  if (!isDraftEdited.value) {
    return (
      <EmptyState title="There is nothing to review">
        <a class="button" href={back}>
          Edit the configuration
        </a>
      </EmptyState>
    )
  }
  const found = compared.value.value
  return (
    <div class="scroll config-review">
      <div class="config-review-head">
        <h2>Review changes</h2>
        <a class="button" href={back}>
          Back to the text
        </a>
      </div>
      {conflictingConfig.value !== undefined && <ConfigConflict />}
      {compared.problem.value !== undefined && <ErrorNotice reason={compared.problem.value} retry={compared.reload} />}
      {refused.value !== undefined && <ErrorNotice reason={refused.value} />}
      {found === undefined && compared.problem.value === undefined && <Loading what="the comparison" />}
      {found !== undefined && (
        <>
          <section aria-labelledby="config-effects">
            <h3 id="config-effects">What it does</h3>
            <EffectsList effects={found.effects} />
          </section>
          <LineDiffView diff={found.diff} label="Changes, line by line" before="Holds now" after="Yours" />
          <form
            class="config-apply"
            onSubmit={(event) => {
              event.preventDefault()
              void apply()
            }}
          >
            <div class="field grow">
              <label for="config-note">Note, shown in the list of versions</label>
              <input
                id="config-note"
                type="text"
                maxLength={500}
                placeholder="Why"
                value={note.value}
                onInput={(event) => (note.value = event.currentTarget.value)}
              />
            </div>
            <button type="submit" class="primary" disabled={isBusy.value || conflictingConfig.value !== undefined}>
              Apply
            </button>
          </form>
        </>
      )}
    </div>
  )
}
