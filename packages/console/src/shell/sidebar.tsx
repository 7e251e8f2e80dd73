import { useQuery } from '@tanstack/react-query'
import { Link, useRouter } from '@tanstack/react-router'
import { Button } from 'react-aria-components/Button'
import { Avatar } from '../shared/avatar.tsx'
import { useWaiting } from '../shared/handovers.ts'
import { Icon, Mark } from '../shared/icons.tsx'
import { hrefTo } from '../shared/links.ts'
import { manage, useApp } from '../shared/manage.ts'
import { Menu, MenuItem } from '../shared/menu.tsx'
import { NAVIGATION } from './navigation.ts'

/** The app switcher and the navigation. */
export function Sidebar({ onNavigate }: { onNavigate?: () => void }) {
  const { appId, role } = useApp()
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: links inside handle the keyboard, and their clicks bubble up here
    <div
      className="sidebar"
      onClick={(event) => (event.target as Element).closest('a') && onNavigate?.()}
    >
      <Link to="/" className="brand">
        <Mark />
        Loquat
      </Link>
      {appId && <Switcher />}
      <nav aria-label="Pages">
        {appId ? (
          NAVIGATION.map(({ name, items }) => {
            const visible = items.filter(({ roles }) => !roles || (role && roles.includes(role)))
            if (visible.length === 0) return null
            return (
              <div key={name}>
                <h2>{name}</h2>
                {visible.map((item) => (
                  <Link
                    key={item.name}
                    to={item.to}
                    params={{ appId } as never}
                    activeOptions={{ exact: item.to === '/apps/$appId', includeSearch: false }}
                  >
                    <Icon name={item.icon} />
                    {item.name}
                    {item.counts && <Waiting appId={appId} />}
                  </Link>
                ))}
              </div>
            )
          })
        ) : (
          <div>
            <Link to="/" activeOptions={{ exact: true, includeSearch: false }}>
              <Icon name="team" />
              Apps
            </Link>
            <Link to="/usage" activeOptions={{ includeSearch: false }}>
              <Icon name="chart" />
              Usage
            </Link>
          </div>
        )}
      </nav>
    </div>
  )
}

/** How many conversations wait for a person. */
function Waiting({ appId }: { appId: string }) {
  const waiting = useWaiting(appId)
  if (!waiting) return null
  return (
    <span className="nav-count">
      {waiting}
      <span className="hidden-text"> waiting</span>
    </span>
  )
}

function Switcher() {
  const router = useRouter()
  const { appId, app } = useApp()
  const apps = useQuery({
    queryKey: ['apps', ''],
    queryFn: () => manage.apps.list({ perPage: 30 }),
  })
  const name = app.data?.name ?? appId
  const others = apps.data?.data.filter(({ id }) => id !== appId).slice(0, 8) ?? []
  return (
    <Menu
      label="Apps"
      trigger={
        <Button className="button switcher">
          <Avatar square id={appId} name={name} />
          <span className="clip">
            {name}
            <small className="clip">{app.data?.region.toUpperCase() ?? ' '}</small>
          </span>
          <Icon name="down" />
        </Button>
      }
    >
      {[
        ...others.map(({ id, name: other, region }) => (
          <MenuItem
            key={id}
            text={other}
            about={region.toUpperCase()}
            href={hrefTo(router, { to: '/apps/$appId', params: { appId: id } })}
          />
        )),
        <MenuItem key="/" text="All apps" icon="team" href={hrefTo(router, { to: '/' })} />,
      ]}
    </Menu>
  )
}
