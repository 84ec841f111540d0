// The guarantees of bulk files in a folder.
import './guarantees.ts';
