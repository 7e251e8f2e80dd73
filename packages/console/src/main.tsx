import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { I18nProvider } from 'react-aria-components/I18nProvider'
import { createRoot } from 'react-dom/client'
import { router } from './router.tsx'
import { queries } from './shared/manage.ts'
import { applyTheme } from './shell/theme.ts'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import './styles/parts.css'
import './styles/forms.css'
import './styles/overlays.css'

applyTheme()
const element = document.getElementById('root')
if (element) {
  createRoot(element).render(
    <StrictMode>
      <I18nProvider locale="en-US">
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} />
        </QueryClientProvider>
      </I18nProvider>
    </StrictMode>,
  )
}
