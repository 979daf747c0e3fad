/** A key that was just created. It is shown once: leaving the page asks first. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { MadeKey } from '../api/admin.ts'
import { registerUnsavedWork } from '../api/session.ts'
import { requestConfirmation } from '../app/confirm-dialog.tsx'
import { setLeaveGuard } from '../app/router.ts'
import { copyText } from '../components/content/copy-button.tsx'
import { Icon } from '../components/icon.tsx'
import { keysStrings, newKeyStrings } from './strings.ts'
import './new-key-notice.css'

export function NewKeyNotice({ made, onDone }: { readonly made: MadeKey; readonly onDone: () => void }) {
  const isCopied = useSignal(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => heading.current?.focus(), [made.id])
  useEffect(() => {
    if (isCopied.value) return
    const stay = (event: BeforeUnloadEvent): void => event.preventDefault()
    addEventListener('beforeunload', stay)
    const release = registerUnsavedWork({ text: newKeyStrings.warning })
    const removeGuard = setLeaveGuard(() =>
      requestConfirmation({
        title: newKeyStrings.leaveQuestion,
        text: newKeyStrings.warning,
        action: newKeyStrings.leave,
      }),
    )
    return () => {
      removeEventListener('beforeunload', stay)
      release()
      removeGuard()
    }
  }, [isCopied.value])

  async function copy(): Promise<void> {
    await copyText(made.key, keysStrings.copied)
    isCopied.value = true
  }

  return (
    <section class="stack shown-key" aria-labelledby="shown-key-title">
      <h3 id="shown-key-title" ref={heading} tabIndex={-1}>
        <Icon name="key" /> {newKeyStrings.title(made.name)}
      </h3>
      <p>
        <strong>{newKeyStrings.shownOnce}</strong>
        {newKeyStrings.store}
      </p>
      <div class="shown-key-line">
        <code>{made.key}</code>
        <button type="button" class="primary" onClick={() => void copy()}>
          <Icon name={isCopied.value ? 'check' : 'copy'} />
          {isCopied.value ? newKeyStrings.copied : newKeyStrings.copy}
        </button>
      </div>
      <div class="row">
        <button type="button" onClick={onDone}>
          {newKeyStrings.done}
        </button>
      </div>
    </section>
  )
}
