// The entry of the dashboard: styles and the app.
import './styles/tokens.css';
import './styles/base.css';
import './styles/shell.css';
import './styles/controls.css';
import './styles/tables.css';
import './styles/charts.css';
import './styles/code.css';
import './styles/states.css';
import './styles/print.css';
import { render } from 'preact';
import { App } from './app.tsx';

const root = document.getElementById('app');
if (root === null) throw new Error('index.html has no element "app".');
render(<App />, root);
