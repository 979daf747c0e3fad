/** The review of changed settings: effects and changed lines, before they are applied. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { showToast } from '../../../app/announce.ts'
import { setQuery } from '../../../app/router.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { EffectsList } from '../../../components/config-effects/effects-list.tsx'
import { effectsSummary } from '../../../components/config-effects/effects.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
import { ErrorNotice } from '../../../components/status/error-notice.tsx'
import { setEntryDraft, type EntryReviewResult } from './entry-draft.ts'

export interface EntryReviewProps {
  readonly name: string
  readonly text: string
  readonly base: string
  readonly result: EntryReviewResult
  readonly onApplied: () => void
}

export function EntryReview({ name, text, base, result, onApplied }: EntryReviewProps) {
  const note = useSignal('')
  const back = (): void => setQuery({ view: undefined })
  useShortcuts([{ key: 'Escape', label: 'Back to settings', run: back }])
  const { isBusy, problem, onSubmit } = useSubmit(async () => {
    const written = note.value.trim()
    const body = { text, base, ...(written === '' ? {} : { note: written }) }
    const { effects } = await callAdmin('changeAgent', { params: { agent: name }, body })
    setEntryDraft(name, undefined)
    showToast(`Applied. ${effectsSummary(effects)}`)
    back()
    onApplied()
  })
  const { diff = [], effects } = result
  return (
    <form class="stack agent-part settings-review" onSubmit={onSubmit}>
      <div class="row settings-review-head">
        <h3 class="grow">Review changes</h3>
        <button type="button" onClick={back}>
          Back to settings
        </button>
      </div>
      {problem !== undefined && <ErrorNotice reason={problem} />}
      {effects !== undefined && (
        <section aria-labelledby="settings-effects">
          <h4 id="settings-effects">Effects</h4>
          <EffectsList effects={effects} />
        </section>
      )}
      <LineDiffView diff={diff} label="Changed lines" before="Current" after="Proposed" />
      <div class="bar settings-apply">
        <div class="field grow">
          <label for="settings-note">Note (optional), shown in the list of versions</label>
          <input
            id="settings-note"
            type="text"
            maxLength={500}
            placeholder="Reason for the change"
            value={note.value}
            onInput={(event) => (note.value = event.currentTarget.value)}
          />
        </div>
        <button type="submit" class="primary" disabled={isBusy}>
          Apply
        </button>
      </div>
    </form>
  )
}
