/** A button that copies a text and confirms it. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { announce } from '../../app/announce.ts'
import { Icon } from '../icon.tsx'
import { truncateMiddle } from '../format.ts'
import './copy-button.css'

export async function copyText(text: string, what: string = 'Copied'): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // Without TLS, a page has no clipboard API.
    copyWithSelection(text)
  }
  announce(what)
}

function copyWithSelection(text: string): void {
  const field = document.createElement('textarea')
  field.value = text
  field.className = 'unseen'
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

const doneMs = 1_200

export function CopyButton({
  text,
  label,
  children,
  class: look,
}: {
  /** A function if the text is computed on demand. */
  readonly text: string | (() => string | Promise<string>)
  /** What is copied, for screen readers. */
  readonly label: string
  readonly children?: ComponentChildren
  readonly class?: string
}) {
  const isDone = useSignal(false)
  const copy = async (): Promise<void> => {
    await copyText(typeof text === 'string' ? text : await text(), `${label}: copied`)
    isDone.value = true
    setTimeout(() => (isDone.value = false), doneMs)
  }
  return (
    <button
      type="button"
      class={`${children === undefined ? 'icon ' : ''}${look ?? 'plain small'}`}
      aria-label={children === undefined ? label : undefined}
      title={label}
      onClick={() => void copy()}
    >
      <Icon name={isDone.value ? 'check' : 'copy'} size={14} />
      {children}
    </button>
  )
}

/** An id, truncated in the middle and copied in full. */
export function CopyableId({
  id,
  what = 'ID',
  href,
}: {
  readonly id: string
  readonly what?: string
  readonly href?: string
}) {
  const text = <span title={id}>{truncateMiddle(id)}</span>
  return (
    <span class="id mono">
      {href === undefined ? text : <a href={href}>{text}</a>}
      <CopyButton text={id} label={`Copy ${what}`} class="plain small" />
    </span>
  )
}
