/** The frame of every page: heading, actions and content. */
import type { ComponentChildren } from 'preact'
import { Icon } from '../icon.tsx'
import { useDocumentTitle } from './document-title.ts'
import './page-head.css'

export function PageHead({
  title,
  children,
  backTo,
}: {
  readonly title: string
  readonly children?: ComponentChildren
  readonly backTo?: string
}) {
  useDocumentTitle('page', title)
  return (
    <header class="page-head">
      {backTo !== undefined && <BackLink to={backTo} />}
      <h1 class="cut">{title}</h1>
      <div class="bar page-actions">{children}</div>
    </header>
  )
}

/** The head of the selected item, beside the list. */
export function DetailHead({
  title,
  children,
  backTo,
}: {
  readonly title: string
  readonly children?: ComponentChildren
  readonly backTo: string
}) {
  useDocumentTitle('item', title)
  return (
    <header class="bar detail-head">
      <BackLink to={backTo} />
      <h2 class="cut grow">{title}</h2>
      <div class="bar page-actions">{children}</div>
    </header>
  )
}

export function BackLink({ to }: { readonly to: string }) {
  return (
    <a class="button plain icon small" href={to} aria-label="Close" title="Close (Esc)">
      <Icon name="back" />
    </a>
  )
}

/** A list of names and values. */
export function FactList({ children }: { readonly children: ComponentChildren }) {
  return <dl class="facts">{children}</dl>
}

export interface FactProps {
  readonly name: string
  readonly title?: string
  readonly children: ComponentChildren
}

export function Fact({ name, title, children }: FactProps) {
  return (
    <div title={title}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
