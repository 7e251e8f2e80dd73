import { useMutation } from '@tanstack/react-query'
import { Link, type LinkProps, useMatches, useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { Button } from 'react-aria-components/Button'
import { Dialog } from 'react-aria-components/Dialog'
import { Modal, ModalOverlay } from 'react-aria-components/Modal'
import { IconButton } from '../shared/button.tsx'
import { Icon } from '../shared/icons.tsx'
import { manage, queries, useApp, useSession } from '../shared/manage.ts'
import { Menu, MenuItem } from '../shared/menu.tsx'
import { Sidebar } from './sidebar.tsx'
import { setTheme, THEMES, useTheme } from './theme.ts'

/** Breadcrumbs, theme menu and account menu. */
export const TopBar = () => (
  <header className="top-bar">
    <Drawer />
    <Crumbs />
    <ThemeMenu />
    <AccountMenu />
  </header>
)

/** The sidebar on narrow screens. */
function Drawer() {
  const [isOpen, setOpen] = useState(false)
  return (
    <span className="only-narrow">
      <IconButton icon="menu" label="Menu" onPress={() => setOpen(true)} />
      <ModalOverlay className="drawer-overlay" isDismissable isOpen={isOpen} onOpenChange={setOpen}>
        <Modal className="drawer">
          <Dialog aria-label="Menu">
            <Sidebar onNavigate={() => setOpen(false)} />
          </Dialog>
        </Modal>
      </ModalOverlay>
    </span>
  )
}

/** The pages whose path is a prefix of the current one and that have a `crumb`. */
function useCrumbs() {
  const { routesByPath } = useRouter()
  const { fullPath = '', params = {} } = useMatches().at(-1) ?? {}
  const parts = fullPath.split('/').filter(Boolean)
  return parts.flatMap((_, at) => {
    const to = `/${parts.slice(0, at + 1).join('/')}` as NonNullable<LinkProps['to']>
    const crumb = routesByPath[to as keyof typeof routesByPath]?.options.staticData?.crumb
    const text = typeof crumb === 'function' ? crumb(params as Record<string, string>) : crumb
    return text ? [{ to, text, params }] : []
  })
}

function Crumbs() {
  const { appId, app } = useApp()
  const crumbs = useCrumbs()
  return (
    <nav aria-label="Breadcrumbs" className="crumbs">
      <ul className="crumbs">
        <li>
          <Link to="/">Apps</Link>
        </li>
        {appId && (
          <li>
            <Link to="/apps/$appId" params={{ appId }}>
              {app.data?.name ?? appId}
            </Link>
          </li>
        )}
        {crumbs.map(({ to, text, params }) => (
          <li key={to}>
            <Link to={to} params={params as never}>
              {text}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}

const THEME_ICONS = { system: 'system', light: 'sun', dark: 'moon' } as const
const THEME_NAMES = { system: 'System', light: 'Light', dark: 'Dark' }

function ThemeMenu() {
  const theme = useTheme()
  return (
    <Menu
      label="Theme"
      trigger={
        <Button className="button icon quiet" aria-label={`Theme: ${THEME_NAMES[theme]}`}>
          <Icon name={THEME_ICONS[theme]} />
        </Button>
      }
    >
      {THEMES.map((name) => (
        <MenuItem
          key={name}
          text={THEME_NAMES[name]}
          icon={THEME_ICONS[name]}
          onAction={() => setTheme(name)}
        />
      ))}
    </Menu>
  )
}

function AccountMenu() {
  const session = useSession()
  const operator = session.data?.operator
  const signOut = useMutation({
    mutationFn: () => manage.sessions.end(),
    onSettled: () => {
      queries.clear()
      location.hash = ''
      location.reload()
    },
  })
  return (
    <Menu
      label="Account"
      trigger={
        <Button className="button icon quiet" aria-label={`Account: ${operator?.email ?? ''}`}>
          <Icon name="user" />
        </Button>
      }
    >
      <MenuItem text="Account" icon="settings" href="#/account" />
      <MenuItem
        text="Sign out"
        about={operator?.email ?? ''}
        icon="out"
        onAction={() => signOut.mutate()}
      />
    </Menu>
  )
}
