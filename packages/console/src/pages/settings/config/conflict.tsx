/** An edit conflict: the other user's change, and the choices for the own draft. */
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { ConfirmButton } from '../../../components/layout/confirm-button.tsx'
import { Icon } from '../../../components/icon.tsx'
import { RelativeTime } from '../../../components/time.tsx'
import { Loading } from '../../../components/status/error-notice.tsx'
import { invertDiff } from '../../../components/diff/diff.ts'
import { LineDiffView } from '../../../components/diff/line-diff-view.tsx'
import { baseConfig, discardDraft, rebaseDraft, conflictingConfig, type ConfigText } from './config-draft.ts'

export function ConfigConflict() {
  const found = conflictingConfig.value
  const versions = useResource(`versions ${found?.hash}`, (signal) => callAdmin('listConfigVersions', { signal }))
  const newest = versions.value.value?.versions.find(({ hash }) => hash === found?.hash)
  const isShown = query.value.get('theirs') !== null
  if (found === undefined) return null
  return (
    <section class="config-conflict panel" aria-label="Edit conflict">
      <div class="config-conflict-head" role="alert">
        <Icon name="warning" />
        <p class="grow">
          <strong>The configuration changed while you were editing</strong>
          {newest === undefined ? (
            <>. The file itself may have been edited.</>
          ) : (
            <>
              : {newest.who}, <RelativeTime at={newest.at} />
              {newest.note !== undefined && <>, “{newest.note}”</>}.
            </>
          )}{' '}
          Your edits are kept and not applied.
        </p>
      </div>
      <div class="bar">
        <button type="button" aria-expanded={isShown} onClick={() => setQuery({ theirs: isShown ? undefined : '1' })}>
          {isShown ? 'Hide their changes' : 'Show their changes'}
        </button>
        <button type="button" onClick={() => keepDraft()}>
          Keep my version
        </button>
        <ConfirmButton
          label="Use their version"
          question="Use their version?"
          onConfirm={async () => takeConflicting()}
        >
          Your edits are lost.
        </ConfirmButton>
      </div>
      {isShown && <ConflictingChanges found={found} />}
    </section>
  )
}

function keepDraft(): void {
  rebaseDraft()
  setQuery({ theirs: undefined })
}

function takeConflicting(): void {
  discardDraft()
  setQuery({ theirs: undefined })
}

/** From the base of the draft to the current configuration; the hub compares in the opposite direction. */
function ConflictingChanges({ found }: { readonly found: ConfigText }) {
  const before = baseConfig.value?.text ?? ''
  const compared = useResource(`theirs ${found.hash}`, async (signal) => {
    const { diff } = await callAdmin('diffConfig', { body: { text: before }, signal })
    return invertDiff(diff)
  })
  if (compared.value.value !== undefined) {
    return <LineDiffView diff={compared.value.value} label="Their changes" before="Before" after="Theirs" />
  }
  // A text from which a secret was removed meanwhile cannot be compared; it is shown as is.
  if (compared.problem.value !== undefined) return <pre class="config-theirs mono">{found.text}</pre>
  return <Loading what="their changes" />
}
