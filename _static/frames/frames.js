// Labels and pixels of every moving figure. Written by tools/make_frames.py; player.js plays it.
window.players = {};
players["messages"] = {"size": [685, 444], "labels": ["the fields only", "1: 7 → d", "2: 8 → d", "3: d → 2", "4: 1 → a", "5: 2 → a", "6: a → 0", "7: 3 → b", "8: 4 → b", "9: b → 0", "10: 5 → c", "11: 6 → c", "12: c → 0", "13: 0 → c", "14: c → 6", "15: c → 5", "16: 0 → b", "17: b → 4", "18: b → 3", "19: 0 → a", "20: a → 2", "21: a → 1", "22: 2 → d", "23: d → 8", "24: d → 7", "all have been told"], "code": "d861e0bc6640"};
